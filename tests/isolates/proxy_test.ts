import { assertEquals } from "@std/assert";
import { newApiKey } from "../../src/money/billing/keys/api_key.ts";
import { startSandbox } from "../../src/sandbox/mod.ts";
import { textModel } from "../support/gateway.ts";
import { startGatewayProcess } from "../support/gateway_process.ts";
import { atLeast } from "../support/items.ts";

const KEY = newApiKey();
const ADMIN_KEY = newApiKey();

for (const isolates of [1, 2]) {
  Deno.test(`${isolates} threads: requests that come in do not go to the proxy in HTTP_PROXY`, async () => {
    const folder = await Deno.makeTempDir();
    const sandbox = await startSandbox({ port: 0 });
    const proxy = new RecordingProxy();
    const config = {
      server: { port: 0, isolates, admin_key: ADMIN_KEY },
      store: "kv::memory:",
      accounts: [{ id: "demo", balance: "25.00", keys: [KEY] }],
      providers: { sandbox: { kind: "openai", base_url: sandbox.baseUrls.openai, api_key: "sandbox-key-openai" } },
      models: [textModel("sandbox/chat-1", ["sandbox"])],
      egress: { allow: ["127.0.0.1/32"] },
    };
    await Deno.writeTextFile(`${folder}/switchyard.json`, JSON.stringify(config));
    const gateway = startGatewayProcess({
      args: ["serve", "--config", "switchyard.json"],
      folder,
      env: { HTTP_PROXY: proxy.address, http_proxy: proxy.address, ALL_PROXY: proxy.address },
    });
    try {
      const [, address] = atLeast(await gateway.until(/ready at (http:\S+)/), 2);
      for (const [name, request] of Object.entries(requestsTo(address))) {
        const response = await request();
        assertEquals([name, response.status, (await response.text()).includes("proxied")], [name, 200, false]);
      }
      assertEquals(proxy.texts, []);
    } finally {
      gateway.kill("SIGKILL");
      await gateway.ended;
      await proxy.close();
      await sandbox.stop();
      await Deno.remove(folder, { recursive: true });
    }
  });
}

/** One for each way from a thread that accepts connections to the answer. */
function requestsTo(address: string): Record<string, () => Promise<Response>> {
  const as = (key: string) => ({ authorization: `Bearer ${key}`, "content-type": "application/json" });
  const chat = JSON.stringify({ model: "sandbox/chat-1", messages: [{ role: "user", content: "hi" }] });
  const url = `${address}/v1/chat/completions`;
  return {
    "a short text": () => fetch(url, { method: "POST", headers: as(KEY), body: chat }),
    // Its length is unknown, so it goes to the main thread.
    "a text in chunks": () =>
      fetch(url, { method: "POST", headers: as(KEY), body: ReadableStream.from([bytesOf(chat)]) }),
    "the readiness": () => fetch(`${address}/readyz`),
    "the models": () => fetch(`${address}/v1/models`, { headers: as(KEY) }),
    "the admin API": () => fetch(`${address}/admin/v1/accounts`, { headers: as(ADMIN_KEY) }),
  };
}

function bytesOf(text: string): Uint8Array {
  return new TextEncoder().encode(text);
}

/** A proxy that answers every request itself. */
class RecordingProxy {
  /** What was sent to it. */
  readonly texts: string[] = [];
  readonly #listener = Deno.listen({ hostname: "127.0.0.1", port: 0 });
  readonly #accepted: Promise<void> = this.#accept();

  get address(): string {
    return `http://127.0.0.1:${this.#listener.addr.port}`;
  }

  async close(): Promise<void> {
    this.#listener.close();
    await this.#accepted;
  }

  async #accept(): Promise<void> {
    for await (const connection of this.#listener) {
      const buffer = new Uint8Array(65_536);
      const length = await connection.read(buffer) ?? 0;
      this.texts.push(new TextDecoder().decode(buffer.subarray(0, length)));
      await connection.write(bytesOf("HTTP/1.1 200 OK\r\ncontent-length: 7\r\nconnection: close\r\n\r\nproxied"));
      connection.close();
    }
  }
}
