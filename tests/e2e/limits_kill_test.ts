import { assert, assertEquals } from "@std/assert";
import { textModel } from "../support/gateway.ts";
import { callerOf, type GatewayCall } from "../support/gateway_call.ts";
import { startGatewayProcess } from "../support/gateway_process.ts";
import { itemAt } from "../support/items.ts";
import { always, chatReply, startScriptedUpstream } from "../support/scripted_upstream.ts";
import { longTest } from "../support/long_test.ts";

const ADMIN_KEY = "admin-key-of-the-operator-1";
const START_KEY = "sk-anna-0123456789abcdef";
/** Each reply costs 10 × 0.000001 + 5 × 0.000002 USD, and reserves a little more. */
const COST_UNITS = 20;
const CHAT = { model: "acme/m", max_tokens: 5, messages: [{ role: "user", content: "hello" }] };

async function chat(call: GatewayCall, key: string): Promise<number> {
  return (await call("POST", "/v1/chat/completions", CHAT, { authorization: `Bearer ${key}` })).status;
}

longTest("what a key has spent of its budget, and changes that the operator was told of, survive kill -9", async () => {
  const folder = await Deno.makeTempDir();
  const vendor = startScriptedUpstream(always(chatReply("hello", { prompt: 10, completion: 5 })));
  const config = `${folder}/switchyard.json`;
  await Deno.writeTextFile(
    config,
    JSON.stringify({
      server: { port: 0, admin_key: ADMIN_KEY },
      accounts: [{ id: "demo", balance: "25.00", keys: [START_KEY] }],
      providers: { acme: { kind: "openai", base_url: vendor.baseUrl, api_key: "key-of-the-provider", speaks: "chat" } },
      models: [textModel("acme/m", ["acme"])],
      store: `kv:${folder}/store.db`,
      files: `${folder}/files`,
    }),
  );
  const start = async () => {
    const child = startGatewayProcess({ args: ["serve", "--config", config], folder });
    const address = itemAt(await child.until(/is ready at (\S+)/), 1);
    return { child, call: callerOf(address, { authorization: `Bearer ${ADMIN_KEY}` }) };
  };
  let running = await start();
  const restart = async () => {
    running.child.kill("SIGKILL");
    await running.child.ended;
    running = await start();
  };
  try {
    const budget = { amount: "0.0004", per: "total" };
    const created = await running.call("POST", "/admin/v1/accounts/demo/keys", { name: "ci", budget });
    assertEquals(created.status, 201, created.text);
    const { id, secret } = created.json;
    await restart();

    let replies = 0;
    for (; replies < 8; replies++) assertEquals(await chat(running.call, secret), 200);
    await restart();
    for (let status = 200; status === 200; replies += status === 200 ? 1 : 0) status = await chat(running.call, secret);
    assertEquals(await chat(running.call, secret), 402);
    const { budget: left } =
      (await running.call("GET", "/v1/key", undefined, { authorization: `Bearer ${secret}` })).json.left;
    assertEquals(Number(left.left), (400 - replies * COST_UNITS) / 1e6);
    assert(replies > 15 && replies <= 20, String(replies));
    await restart();
    assertEquals(await chat(running.call, secret), 402);

    const keyPath = `/admin/v1/accounts/demo/keys/${id}`;
    assertEquals((await running.call("PATCH", keyPath, { budget: null, models: ["other/*"] })).status, 200);
    await restart();
    assertEquals(await chat(running.call, secret), 403);
    const { data } = (await running.call("GET", "/admin/v1/audit?account=demo")).json;
    const [change] = data;
    assertEquals([change.method, change.path, change.state], ["PATCH", keyPath, "done"]);
    assertEquals([change.before.models, change.after.models], [null, ["other/*"]]);

    assertEquals((await running.call("DELETE", keyPath)).status, 200);
    await restart();
    assertEquals(await chat(running.call, secret), 401);
  } finally {
    running.child.kill("SIGKILL");
    await running.child.ended;
    await vendor.stop();
    await Deno.remove(folder, { recursive: true });
  }
});
