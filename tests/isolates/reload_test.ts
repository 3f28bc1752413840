import { assertEquals } from "@std/assert";
import { contentOf, provider, RELOAD, startVendor } from "../e2e/changed_gateway.ts";
import { newApiKey } from "../../src/money/billing/keys/api_key.ts";
import { textModel } from "../support/gateway.ts";
import { type GatewayProcess, startGatewayProcess } from "../support/gateway_process.ts";
import { itemAt } from "../support/items.ts";
import { startLiveGateway } from "../support/live_gateway.ts";
import type { ScriptedUpstream } from "../support/scripted_upstream.ts";
import { stateOf } from "../support/patience.ts";

/** So many connections of their own that none of the isolates has none of them. */
const CONNECTIONS = 24;

/** Replies to one request over each of many connections, which the system distributes: status and text. */
async function askAll(address: string, key: string, model: string): Promise<[number, string | undefined][]> {
  return await Promise.all(Array.from({ length: CONNECTIONS }, async () => {
    using client = Deno.createHttpClient({ poolMaxIdlePerHost: 0 });
    const response = await fetch(`${address}/v1/chat/completions`, {
      client,
      method: "POST",
      headers: { authorization: `Bearer ${key}`, "content-type": "application/json" },
      body: JSON.stringify({ model, messages: [{ role: "user", content: "hi" }] }),
    });
    const body = await response.json();
    return [response.status, contentOf({ body })] as [number, string | undefined];
  }));
}

function all(status: number, text?: string): [number, string | undefined][] {
  return Array.from({ length: CONNECTIONS }, () => [status, text]);
}

function treeOf(vendor: ScriptedUpstream, model: string): Record<string, unknown> {
  return { providers: { acme: provider(vendor) }, models: [textModel(model, ["acme"])] };
}

Deno.test("isolates: after a reload by the admin API all of them have the new models, and none the old ones", async () => {
  const [one, two] = [startVendor("one"), startVendor("two")];
  const gateway = await startLiveGateway({ isolates: 3, sections: treeOf(one, "acme/old") });
  const { address, key } = gateway;
  try {
    assertEquals(await askAll(address, key, "acme/old"), all(200, "one"));
    gateway.write(treeOf(two, "acme/new"));
    assertEquals((await gateway.admin("POST", RELOAD)).status, 200);
    assertEquals(await askAll(address, key, "acme/new"), all(200, "two"));
    assertEquals(await askAll(address, key, "acme/old"), all(404));
  } finally {
    await gateway.stop();
    await one.stop();
    await two.stop();
  }
});

Deno.test("isolates: after SIGHUP all of them have the new models", async () => {
  const [one, two] = [startVendor("one"), startVendor("two")];
  const folder = await Deno.makeTempDir();
  const key = newApiKey();
  const write = (tree: Record<string, unknown>) =>
    Deno.writeTextFile(
      `${folder}/switchyard.yaml`,
      JSON.stringify({
        server: { isolates: 2 },
        accounts: [{ id: "demo", balance: "25.00", keys: [key] }],
        egress: { allow: ["127.0.0.1/32"] },
        ...tree,
      }),
    );
  await write(treeOf(one, "acme/old"));
  const env = { SWITCHYARD_ADMIN_KEY: newApiKey(), PORT: "0" };
  const process: GatewayProcess = startGatewayProcess({ args: ["serve"], folder, env });
  try {
    const address = itemAt(await process.until(/ready at (http:\S+)/), 1);
    assertEquals(await askAll(address, key, "acme/old"), all(200, "one"));
    await write(treeOf(two, "acme/new"));
    process.kill("SIGHUP");
    // A signal has no answer, so the isolates follow the line in the log.
    await stateOf(
      "all isolates have the new configuration",
      () => askAll(address, key, "acme/new"),
      (replies) => replies.every(([status, text]) => status === 200 && text === "two"),
    );
    assertEquals(await askAll(address, key, "acme/old"), all(404));
  } finally {
    process.kill("SIGKILL");
    await process.ended;
    await one.stop();
    await two.stop();
    await Deno.remove(folder, { recursive: true });
  }
});
