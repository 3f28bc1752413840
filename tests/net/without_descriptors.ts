/** A gateway whose process uses up its descriptors. Prints what callers get. */
import { startTestGateway, textModel } from "../support/gateway.ts";

const ADMIN_KEY = "an-admin-key-of-this-test";
const isolates = Number(Deno.args[0]);
const vendor = Deno.serve({ hostname: "127.0.0.1", port: 0, onListen() {} }, () =>
  new Response(
    JSON.stringify({
      id: "chatcmpl-1",
      object: "chat.completion",
      created: 1,
      model: "m",
      choices: [{ index: 0, message: { role: "assistant", content: "hi" }, finish_reason: "stop" }],
      usage: { prompt_tokens: 1, completion_tokens: 1, total_tokens: 2 },
    }),
    { headers: { "content-type": "application/json", connection: "close" } },
  ));
const provider = (host: string) => ({
  kind: "openai",
  base_url: `http://${host}:${vendor.addr.port}/v1`,
  api_key: "k",
});
const gateway = await startTestGateway({
  config: {
    server: { port: 0, isolates, shutdown_grace: 0, admin_key: ADMIN_KEY },
    providers: { address: provider("127.0.0.1"), name: provider("localhost") },
    models: [textModel("test/address", ["address"]), textModel("test/name", ["name"])],
  },
});

/** A connection of a caller, which stays open. */
class Caller {
  private constructor(readonly connection: Deno.TcpConn) {}

  static async open(): Promise<Caller> {
    const { hostname, port } = new URL(gateway.address);
    return new Caller(await Deno.connect({ hostname, port: Number(port) }));
  }

  /** Sends a request, and returns the status and the code of the error. */
  async chat(model: string): Promise<string> {
    const body = JSON.stringify({ model, max_tokens: 5, messages: [{ role: "user", content: "hi" }] });
    const head = `POST /v1/chat/completions HTTP/1.1\r\nHost: a\r\nAuthorization: Bearer ${gateway.key}\r\n`;
    const fields = `Content-Type: application/json\r\nContent-Length: ${body.length}\r\n\r\n`;
    await this.connection.write(new TextEncoder().encode(head + fields + body));
    const buffer = new Uint8Array(65_536);
    let text = "";
    while (!/\r\n\r\n[^]*\}\s*$/.test(text)) {
      const length = await this.connection.read(buffer);
      if (length === null) break;
      text += new TextDecoder().decode(buffer.subarray(0, length));
    }
    const code = /"code":"(\w+)"/.exec(text)?.[1];
    return [text.slice(9, 12), ...code === undefined ? [] : [code]].join(" ");
  }
}

const caller = await Caller.open();
await caller.chat("test/name"); // the first request to a thread loads files
console.log(`with descriptors: ${await caller.chat("test/address")}`);
const open: Deno.FsFile[] = [];
try {
  for (;;) open.push(Deno.openSync("/dev/null"));
} catch { /* none is left */ }
for (let calls = 0; calls < 12; calls++) await caller.chat("test/address");
const without = await caller.chat("test/address");
const byName = await caller.chat("test/name");
for (const file of open) file.close();
console.log(`without: ${without}`);
console.log(`by name: ${byName}`);
const states = await (await fetch(`${gateway.address}/readyz?verbose`, {
  headers: { authorization: `Bearer ${ADMIN_KEY}` },
})).json();
console.log(
  `state: ${states.providers?.map(({ state }: { state: string }) => state).join(" ") ?? JSON.stringify(states)}`,
);
console.log(`with descriptors again: ${await caller.chat("test/address")}`);
Deno.exit(0);
