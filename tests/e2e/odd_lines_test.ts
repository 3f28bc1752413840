import { assert, assertEquals } from "@std/assert";
import { startTestGateway, textModel } from "../support/gateway.ts";
import { startScriptedUpstream, STREAM_HEAD } from "../support/scripted_upstream.ts";
import { TextWork } from "../support/text_work.ts";
import { CHAT, MESSAGES } from "./caller_protocols.ts";

/** Lines of an event stream that end no event. */
const LINES = {
  "of an unknown field": "x\n",
  "that begin like data": "databogus\n",
  "of spaces": " \n",
  "of names": "event: x\n",
};
const STREAM_CHARACTERS = 1_000_000;

for (const [name, line] of Object.entries(LINES)) {
  for (const face of [CHAT, MESSAGES]) {
    Deno.test(`a vendor's stream of lines ${name} costs work by its length, for callers of ${face.name}`, async () => {
      const lines = line.repeat(STREAM_CHARACTERS / line.length);
      const vendor = startScriptedUpstream(async (side) => {
        if (await side.request() !== null) await side.say(STREAM_HEAD) && await side.say(lines);
      });
      const gateway = await startTestGateway({
        config: {
          providers: { odd: { kind: "openai", base_url: vendor.baseUrl, api_key: "vendor-key-1", speaks: "chat" } },
          models: [textModel("sandbox/odd-1", ["odd"])],
        },
      });
      using work = new TextWork();
      const response = await fetch(`${gateway.address}${face.path("sandbox/odd-1", true)}`, {
        method: "POST",
        headers: face.headers(gateway.key),
        body: JSON.stringify(face.body("sandbox/odd-1", "Hello", true)),
      });
      await response.text();
      assert(work.searched < 20 * STREAM_CHARACTERS, `${work.searched} characters were searched`);
      assertEquals(work.errors, 0);
      await gateway.stop();
      await vendor.stop();
    });
  }
}
