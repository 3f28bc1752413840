import { assertEquals } from "@std/assert";
import { newApiKey } from "../../../src/money/billing/keys/api_key.ts";
import { startSandbox } from "../../../src/sandbox/mod.ts";
import { callerOf } from "../../support/gateway_call.ts";
import { atLeast, itemAt } from "../../support/items.ts";
import { startVideoGateway } from "../../support/video_gateway.ts";

/** A vendor that accepts connections and never responds. */
function silentVendor(): { readonly address: string; readonly connections: () => number; close(): void } {
  const listener = Deno.listen({ port: 0, hostname: "127.0.0.1" });
  const connections: Deno.Conn[] = [];
  (async () => {
    for await (const connection of listener) connections.push(connection);
  })().catch(() => {});
  return {
    address: `http://127.0.0.1:${listener.addr.port}`,
    connections: () => connections.length,
    close() {
      listener.close();
      for (const connection of connections) connection.close();
    },
  };
}

Deno.test("two vendors that never respond delay no creates at a third, over HTTP", async () => {
  const silent = [silentVendor(), silentVendor()];
  const sandbox = await startSandbox({ port: 0 });
  const accounts = ["one", "two", "three", "four"].map((id) => ({ id, balance: "100.00", keys: [newApiKey()] }));
  const video = { modes: ["text2video"], price_per_second: { default: "0.01" } };
  const gateway = await startVideoGateway({
    config: {
      accounts,
      providers: {
        "silent-0": { kind: "ark", base_url: itemAt(silent, 0).address, api_key: "a-key" },
        "silent-1": { kind: "xai", base_url: itemAt(silent, 1).address, api_key: "a-key" },
        ark: { kind: "ark", base_url: sandbox.baseUrls.ark, api_key: "sandbox-key-ark" },
      },
      models: ["silent-0", "silent-1", "ark"].map((provider) => ({
        id: `sandbox/${provider}`,
        video,
        serves: [{ provider, model: "seedance-sandbox" }],
      })),
    },
  });
  try {
    const calls = accounts.map(({ keys: [key] }) => ({
      call: callerOf(gateway.address, { authorization: `Bearer ${key}` }),
    }));
    const [other, ...many] = atLeast(calls, 1);
    for (const { call } of many) {
      for (let nth = 0; nth < 40; nth++) {
        const { status } = await call("POST", "/v1/videos", { model: `sandbox/silent-${nth % 2}`, prompt: "A lamp" });
        assertEquals(status, 202);
      }
    }
    while (silent.some(({ connections }) => connections() < 24)) await pause();
    for (const { call } of [other, itemAt(many, 0)]) {
      const { json: { id } } = await call("POST", "/v1/videos", { model: "sandbox/ark", prompt: "A lamp [[run 0]]" });
      while ((await call("GET", `/v1/videos/${id}`)).json.status !== "completed") await pause();
    }
  } finally {
    for (const vendor of silent) vendor.close();
    await gateway.stop();
    await sandbox.stop();
  }
});

function pause(): Promise<void> {
  return new Promise((resolve) => setTimeout(resolve, 10));
}
