import { assert, assertEquals } from "@std/assert";
import { startGatewayProcess } from "../support/gateway_process.ts";
import { textModel } from "../support/gateway.ts";
import { startStatefulVendor } from "./stateful_vendor.ts";
import { longTest } from "../support/long_test.ts";

const KEYS = ["sk-anna-0123456789abcdef", "sk-ben-0123456789abcdef"] as const;

/** Reads a stream up to its first id. */
async function firstId(response: Response, pattern: RegExp): Promise<string> {
  const reader = response.body!.pipeThrough(new TextDecoderStream()).getReader();
  let text = "";
  for (;;) {
    const found = pattern.exec(text);
    if (found) {
      // The process ends while the stream is open.
      reader.closed.catch(() => {});
      return found[0];
    }
    const { value, done } = await reader.read();
    assert(!done, `It ended without ${pattern}: ${text}`);
    text += value;
  }
}

longTest("an id that a caller has received belongs to its account after kill -9", async () => {
  const folder = await Deno.makeTempDir();
  const vendor = startStatefulVendor("one");
  const config = {
    server: { port: 0 },
    accounts: KEYS.map((key, nth) => ({ id: ["anna", "ben"][nth], balance: "25.00", keys: [key] })),
    providers: { one: { kind: "openai", base_url: vendor.baseUrl, api_key: "key-of-the-operator", speaks: "both" } },
    models: [textModel("acme/one", ["one"])],
    store: `kv:${folder}/store.db`,
    files: `${folder}/files`,
  };
  await Deno.writeTextFile(`${folder}/switchyard.json`, JSON.stringify(config));
  const start = () => startGatewayProcess({ args: ["serve", "--config", `${folder}/switchyard.json`], folder });
  const ask = (address: string, key: string, fields: object) =>
    fetch(`${address}/v1/responses`, {
      method: "POST",
      headers: { authorization: `Bearer ${key}`, "content-type": "application/json" },
      body: JSON.stringify({ model: "acme/one", input: "hi", ...fields }),
    });
  try {
    for (const stream of [true, false]) {
      const gateway = start();
      const [address] = await gateway.until(/http:\/\/127\.0\.0\.1:\d+/);
      const id = await firstId(await ask(address, KEYS[0], { stream }), /resp_one\d+/);
      gateway.kill("SIGKILL");
      await gateway.ended;
      const again = start();
      const [next] = await again.until(/http:\/\/127\.0\.0\.1:\d+/);
      const statuses = [];
      for (const key of KEYS) {
        const response = await ask(next, key, { previous_response_id: id });
        statuses.push(response.status);
        await response.body?.cancel();
      }
      again.kill("SIGTERM");
      await again.ended;
      assertEquals(statuses, [200, 404]);
    }
  } finally {
    await vendor.stop();
    await Deno.remove(folder, { recursive: true });
  }
});
