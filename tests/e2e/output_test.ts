import { assert, assertEquals } from "@std/assert";
import { newApiKey } from "../../src/money/billing/keys/api_key.ts";
import { startSandbox } from "../../src/sandbox/mod.ts";
import { textModel } from "../support/gateway.ts";
import { type GatewayProcess, startGatewayProcess } from "../support/gateway_process.ts";
import { closedOrigin } from "../support/video_gateway.ts";
import { CHAT, sendAs } from "./caller_protocols.ts";
import { longTest } from "../support/long_test.ts";

/** Runs a gateway with redirected output; its port is configured. */
async function withGateway(
  redirects: string,
  run: (gateway: { address: string; key: string; folder: string; process: GatewayProcess }) => Promise<void>,
): Promise<void> {
  const folder = await Deno.makeTempDir();
  const sandbox = await startSandbox({ port: 0 });
  const [address, key] = [closedOrigin(), newApiKey()];
  const config = {
    server: { port: Number(new URL(address).port) },
    store: `kv:${folder}/store.db`,
    files: `${folder}/files`,
    accounts: [{ id: "demo", balance: "25.00", keys: [key] }],
    providers: { vendor: { kind: "openai", base_url: sandbox.baseUrls.openai, api_key: "vendor-key" } },
    models: [textModel("sandbox/chat-1", ["vendor"])],
  };
  const path = `${folder}/switchyard.json`;
  await Deno.writeTextFile(path, JSON.stringify(config));
  await new Deno.Command("mkfifo", { args: [`${folder}/pipe`] }).output();
  const process = startGatewayProcess({ args: ["serve", "--config", path], folder, redirects });
  try {
    await run({ address, key, folder, process });
  } finally {
    await sandbox.stop();
    await Deno.remove(folder, { recursive: true });
  }
}

/** Resolves when the gateway answers; rejects when it ends before. */
async function ready(address: string, process: GatewayProcess): Promise<void> {
  const ended = process.ended.then(({ code }) => Promise.reject(new Error(`It ended with ${code}: ${process.log()}`)));
  ended.catch(() => {});
  const answers = async () => {
    const response = await fetch(`${address}/readyz`).catch(() => null);
    await response?.body?.cancel();
    return response?.ok === true;
  };
  while (!await Promise.race([answers(), ended])) await new Promise((resolve) => setTimeout(resolve, 20));
}

for (
  const [name, redirects] of [
    ["on a full disk", ">/dev/full 2>/dev/full"],
    ["whose readers have gone", "> >(exec true) 2> >(exec true)"],
    ["that are closed", ">&- 2>&-"],
  ] as const
) {
  Deno.test(`serve keeps running, and shuts down cleanly, with outputs ${name}`, async () => {
    await withGateway(redirects, async ({ address, key, process }) => {
      await ready(address, process);
      for (let count = 0; count < 20; count++) {
        const answer = await sendAs(CHAT, { address, key });
        assertEquals([answer.status, CHAT.textIn(answer.json)], [200, "You said: hello there"]);
        await (await fetch(`${address}/nowhere`)).body?.cancel();
      }
      process.kill("SIGTERM");
      assertEquals((await process.ended).code, 0);
    });
  });
}

const REQUESTS = 10_000;
const CALLERS = 16;

longTest(
  "ten thousand requests are answered while nobody reads the log, and the log then reports the dropped lines",
  async () => {
    await withGateway('>"pipe" 2>&1', async ({ address, folder, process }) => {
      using pipe = await Deno.open(`${folder}/pipe`, { read: true });
      await ready(address, process);
      let begun = 0;
      let answered = 0;
      await Promise.all(Array.from({ length: CALLERS }, async () => {
        while (begun++ < REQUESTS) {
          const response = await fetch(`${address}/`); // health checks have no line
          await response.body?.cancel();
          if (response.status === 200) answered++;
        }
      }));
      assertEquals(answered, REQUESTS);
      const lines = linesOf(pipe);
      const read: string[] = [];
      const readUntil = async (wanted: string) => {
        for (let line; (line = (await lines.next()).value) !== undefined;) {
          read.push(line);
          if (line.includes(wanted)) return line;
        }
        throw new Error(`The log ended without ${wanted}`);
      };
      const { count } = JSON.parse(await readUntil("log_lines_dropped"));
      process.kill("SIGTERM");
      await readUntil('"stopped"');
      assertEquals((await process.ended).code, 0);
      const requests = read.filter((line) => line.includes('"path":"/"')).length;
      assert(count > 0, `${count} dropped`);
      assertEquals(requests + count, REQUESTS);
      assert(read.every((line) => /^(\{.*\}|Switchyard is ready.*|Account .*)$/.test(line)));
    });
  },
);

async function* linesOf(file: Deno.FsFile): AsyncGenerator<string, undefined> {
  let text = "";
  const buffer = new Uint8Array(65_536);
  for (let length; (length = await file.read(buffer)) !== null;) {
    const lines = (text + new TextDecoder().decode(buffer.subarray(0, length))).split("\n");
    text = lines.pop()!;
    yield* lines;
  }
}
