import { assertEquals, assertMatch, fail } from "@std/assert";
import { newApiKey } from "../../src/money/billing/keys/api_key.ts";
import { MIN_FREE_DESCRIPTORS } from "../../src/platform/lib/process/late.ts";
import { eventually } from "../support/account_money.ts";
import { textModel } from "../support/gateway.ts";
import { startGatewayProcess } from "../support/gateway_process.ts";
import { itemAt } from "../support/items.ts";

const DESCRIPTORS = 256;

const BODY = new TextEncoder().encode(
  JSON.stringify({ model: "sandbox/chat-1", messages: [{ role: "user", content: "hello there" }] }),
);

/** The dry run of a request is the first use of code that is loaded late. */
const DRY_RUN = "X-Service-Dry-Run: true";

/** Sends a request but for the last byte of its body. */
async function begin(address: string, key: string, ...headers: readonly string[]): Promise<Deno.TcpConn> {
  const { hostname, port } = new URL(address);
  const head = [
    "POST /v1/chat/completions HTTP/1.1",
    "Host: gateway",
    `Authorization: Bearer ${key}`,
    "Content-Type: application/json",
    `Content-Length: ${BODY.length}`,
    ...headers,
    "Connection: close",
  ].join("\r\n");
  const connection = await Deno.connect({ hostname, port: Number(port) });
  await connection.write(new TextEncoder().encode(`${head}\r\n\r\n`));
  await connection.write(BODY.subarray(0, -1));
  return connection;
}

/** Sends the last byte, and returns the reply. */
async function finish(connection: Deno.TcpConn): Promise<string> {
  await connection.write(BODY.subarray(-1));
  return await new Response(connection.readable).text();
}

/** The number of free descriptors of a process, which only another program may read. */
async function freeOf(pid: number): Promise<number> {
  const { stdout } = await new Deno.Command("ls", { args: [`/proc/${pid}/fd`] }).output();
  return DESCRIPTORS - new TextDecoder().decode(stdout).trim().split("\n").length;
}

/** Some looks at the free descriptors. A thread that starts takes 64 for a moment, to see whether they are free. */
async function looksAt(pid: number): Promise<number[]> {
  const looks: number[] = [];
  while (looks.length < 5) looks.push(await freeOf(pid));
  return looks;
}

// Elsewhere than on Linux the limit of open files is not set for a child.
Deno.test({
  name: "a first request whose code cannot be loaded for want of descriptors fails alone",
  ignore: Deno.build.os !== "linux",
  async fn() {
    const folder = await Deno.makeTempDir();
    const key = newApiKey();
    const config = {
      server: { port: 0, isolates: 1, shutdown_grace: 1 },
      limits: { body_idle: 120 },
      store: `kv:${folder}/store.db`,
      files: `${folder}/files`,
      accounts: [{ id: "demo", balance: "25.00", keys: [key] }],
      providers: { vendor: { kind: "openai", base_url: "http://127.0.0.1:9/v1", api_key: "vendor-key" } },
      models: [textModel("sandbox/chat-1", ["vendor"])],
    };
    await Deno.writeTextFile(`${folder}/switchyard.json`, JSON.stringify(config));
    const process = startGatewayProcess({
      args: ["serve", "--config", `${folder}/switchyard.json`],
      flags: ["--unstable-lazy-dynamic-imports"],
      folder,
      descriptors: DESCRIPTORS,
    });
    const address = itemAt(await process.until(/ready at (http:\S+)/), 1);
    const first = await begin(address, key, DRY_RUN);
    // Far from the limit at which the gateway closes connections.
    const count = Math.max(...await looksAt(process.pid)) - MIN_FREE_DESCRIPTORS + 6;
    const others = await Promise.all(Array.from({ length: count }, () => begin(address, key)));
    await eventually(async () => Math.max(...await looksAt(process.pid)) < MIN_FREE_DESCRIPTORS);
    assertMatch(await finish(first), /^HTTP\/1\.1 503 [^]*retry-after: \d[^]*too few free file descriptors/i);

    for (const connection of others) connection.close();
    let again = "";
    await eventually(async () => {
      again = await begin(address, key, DRY_RUN).then(finish).catch(() => "");
      return again.startsWith("HTTP/1.1 200");
    }).catch(() => fail(`It does not answer again: ${again}${process.log()}`));
    assertMatch(again, /"dry_run"/);
    process.kill("SIGTERM");
    assertEquals((await process.ended).code, 0, process.log());
    await Deno.remove(folder, { recursive: true });
  },
});
