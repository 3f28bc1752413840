import { assertEquals } from "@std/assert";
import { startTestGateway, textModel } from "../support/gateway.ts";
import { always, chatReply, startScriptedUpstream } from "../support/scripted_upstream.ts";
import { CHAT, sendAs } from "./caller_protocols.ts";

/** What an HTTP proxy answers itself, so that no address beyond loopback is contacted. */
const ANSWER = chatReply("through", { prompt: 3, completion: 4 });

for (const isolates of [1, 2]) {
  for (const noProxy of ["127.0.0.1", "10.0.0.0/8,::1", "[2001:db8::]:80,fd00::/8"]) {
    Deno.test(`a vendor configured by its address is called with NO_PROXY=${noProxy} and ${isolates} thread(s)`, async () => {
      const proxy = startScriptedUpstream(always(ANSWER));
      const gateway = await startTestGateway({
        isolates,
        env: { HTTP_PROXY: `http://127.0.0.1:${proxy.port}`, NO_PROXY: noProxy },
        config: {
          providers: { far: { kind: "openai", base_url: "http://192.0.2.7:8000/v1", api_key: "vk-1", speaks: "chat" } },
          models: [textModel("sandbox/far", ["far"])],
        },
      });
      try {
        for (let turn = 0; turn < 3; turn++) {
          const { status, text } = await sendAs(CHAT, gateway, { model: "sandbox/far", text: "hello" });
          assertEquals([status, text.includes("through")], [200, true], text);
        }
      } finally {
        await gateway.stop();
        await proxy.stop();
      }
    });
  }
}
