import { assert, assertEquals } from "@std/assert";
import { textModel } from "../support/gateway.ts";
import { callerOf } from "../support/gateway_call.ts";
import { startGatewayProcess } from "../support/gateway_process.ts";
import { itemAt } from "../support/items.ts";
import { until } from "../support/manual_clock.ts";
import { chatReply, startScriptedUpstream } from "../support/scripted_upstream.ts";
import { longTest } from "../support/long_test.ts";

const START_KEY = "sk-anna-0123456789abcdef";
const CHAT = { model: "acme/m", max_tokens: 5, messages: [{ role: "user", content: "hello" }] };
const KEYED = { "idempotency-key": "the-only-one" };

longTest(
  "a key is free after a kill -9 in the middle of its request, and no second charge is without a record",
  async () => {
    const folder = await Deno.makeTempDir();
    let isSilent = true;
    const vendor = startScriptedUpstream(async (side) => {
      while (await side.request() !== null) {
        if (isSilent) return void await side.gone();
        await side.say(chatReply("hello", { prompt: 10, completion: 5 }));
      }
    });
    const config = `${folder}/switchyard.json`;
    await Deno.writeTextFile(
      config,
      JSON.stringify({
        server: { port: 0 },
        accounts: [{ id: "demo", balance: "25.00", keys: [START_KEY] }],
        providers: {
          acme: { kind: "openai", base_url: vendor.baseUrl, api_key: "key-of-the-provider", speaks: "chat" },
        },
        models: [textModel("acme/m", ["acme"])],
        store: `kv:${folder}/store.db`,
        files: `${folder}/files`,
        limits: { idempotency: { lease: 1 } },
      }),
    );
    const start = async () => {
      const child = startGatewayProcess({ args: ["serve", "--config", config], folder });
      const address = itemAt(await child.until(/is ready at (\S+)/), 1);
      return { child, call: callerOf(address, { authorization: `Bearer ${START_KEY}` }) };
    };
    let running = await start();
    const post = () => running.call("POST", "/v1/chat/completions", CHAT, KEYED);
    const postUntilAnswered = async () => {
      let reply = await post();
      while (reply.status === 409) reply = await post();
      return reply;
    };
    const restart = async () => {
      running.child.kill("SIGKILL");
      await running.child.ended;
      running = await start();
    };
    try {
      const cut = post().catch(() => null);
      await until(() => vendor.seen.length === 1);
      await restart();
      await cut;
      isSilent = false;
      const first = await postUntilAnswered();
      assertEquals([first.status, first.headers.get("idempotent-replayed")], [200, null]);
      const interrupted = first.headers.get("x-service-interrupted");
      assert(interrupted?.startsWith("req_"), String(interrupted));
      const requests = vendor.seen.length;
      await restart();
      const second = await postUntilAnswered();
      assertEquals([second.status, second.text], [200, first.text]);
      assertEquals(second.headers.get("idempotent-replayed"), "true");
      assertEquals(second.headers.get("x-service-interrupted"), interrupted);
      assertEquals(vendor.seen.length, requests);
      const { balance } = (await running.call("GET", "/v1/credits")).json;
      assertEquals(Number(balance), 25 - 0.00002);
    } finally {
      running.child.kill("SIGKILL");
      await running.child.ended;
      await vendor.stop();
      await Deno.remove(folder, { recursive: true });
    }
  },
);
