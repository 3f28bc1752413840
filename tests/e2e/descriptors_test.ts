import { assert, assertEquals, assertMatch } from "@std/assert";
import { newApiKey } from "../../src/money/billing/keys/api_key.ts";
import { startSandbox } from "../../src/sandbox/mod.ts";
import { textModel } from "../support/gateway.ts";
import { type GatewayProcess, startGatewayProcess } from "../support/gateway_process.ts";
import { itemAt } from "../support/items.ts";
import { longTest } from "../support/long_test.ts";
import { untilSo } from "../support/patience.ts";

/** A gateway as a process that can open few files. */
interface Limited {
  readonly process: GatewayProcess;
  readonly address: string;
  chat(content: string, stream?: boolean): Promise<Response>;
  /** Opens a connection, and sends a part of a head. Null if that fails. */
  connect(): Promise<Deno.TcpConn | null>;
  /** The number of log lines of an event. */
  logged(event: string): number;
}

async function withLimited(isolates: number, descriptors: number, test: (gateway: Limited) => Promise<void>) {
  const folder = await Deno.makeTempDir();
  const sandbox = await startSandbox({ port: 0 });
  const [key, adminKey] = [newApiKey(), newApiKey()];
  const config = {
    server: { port: 0, admin_key: adminKey, isolates, shutdown_grace: 1 },
    store: `kv:${folder}/store.db`,
    files: `${folder}/files`,
    accounts: [{ id: "demo", balance: "2500.00", keys: [key] }],
    providers: { vendor: { kind: "openai", base_url: sandbox.baseUrls.openai, api_key: "vendor-key", speaks: "both" } },
    models: [{ ...textModel("sandbox/chat-1", ["vendor"]), context_length: 2_000_000 }],
  };
  await Deno.writeTextFile(`${folder}/switchyard.json`, JSON.stringify(config));
  const process = startGatewayProcess({
    args: ["serve", "--config", `${folder}/switchyard.json`],
    folder,
    descriptors,
  });
  const address = itemAt(await process.until(/ready at (http:\S+)/), 1);
  const { hostname, port } = new URL(address);
  try {
    await test({
      process,
      address,
      chat: (content, stream = false) =>
        fetch(`${address}/v1/chat/completions`, {
          method: "POST",
          headers: { authorization: `Bearer ${key}`, "content-type": "application/json" },
          body: JSON.stringify({ model: "sandbox/chat-1", stream, messages: [{ role: "user", content }] }),
        }),
      async connect() {
        try {
          const connection = await Deno.connect({ hostname, port: Number(port) });
          await connection.write(new TextEncoder().encode("POST /v1/chat/completions HTTP/1.1\r\nHost: a\r\nX-Half:"));
          return connection;
        } catch {
          return null;
        }
      },
      logged: (event) => process.log().split(`"event":"${event}"`).length - 1,
    });
    process.kill("SIGTERM");
    assertEquals((await process.ended).code, 0, process.log());
  } finally {
    await sandbox.stop();
    await Deno.remove(folder, { recursive: true });
  }
}

const LARGE = "word ".repeat(500_000);

// Elsewhere than on Linux the limit of open files is not set for a child.
for (const isolates of Deno.build.os === "linux" ? [1, 2] : []) {
  longTest(
    `idle connections up to the limit of open files end nothing and are closed: ${isolates} threads`,
    () =>
      withLimited(isolates, 400, async ({ chat, connect, logged, process }) => {
        assertEquals((await (await chat("hello")).json()).object, "chat.completion");
        const stream = (await chat("[[gap 20]] [[words 400]] go", true)).text();
        const idle: Deno.TcpConn[] = [];
        let hasEnded = false;
        void process.ended.then(() => hasEnded = true);
        // A flood within one second ends the accept loop before descriptors are counted. Both ways close connections.
        while (logged("connections_shed") + logged("listen.interrupted") === 0) {
          assert(!hasEnded, process.log());
          const connection = await connect();
          if (connection === null) await new Promise((resolve) => setTimeout(resolve, 10));
          else idle.push(connection);
          if (idle.length === 200) {
            // Far from the limit, nothing is closed.
            assertEquals((await chat("hello")).headers.get("connection"), null);
          }
          if (connection !== null && idle.length % 50 === 0) {
            const large = await chat(LARGE).catch(() => null); // a reset at the moment when connections are closed
            await large?.text();
            assert(large === null || large.status === 200 || large.status === 503, `${large?.status}`);
          }
        }
        if (logged("connections_shed") > 0) assertMatch(process.log(), /"event":"connections_shed","count":\d{2,}/);
        // Without a shed, a thread whose accept loop ended closes its own connections, not those of the other.
        const closed = new Set<Deno.TcpConn>();
        for (const connection of idle) {
          void connection.read(new Uint8Array(100)).catch(() => null).then(() => closed.add(connection));
        }
        await untilSo(() => closed.size >= idle.length / 10);
        assertMatch(await stream, /word400 .*\[DONE\]|word400[^]*\[DONE\]/);
        for (const connection of idle) connection.close();
        const large = await chat(LARGE);
        assertEquals([large.status, (await large.json()).object], [200, "chat.completion"]);
      }),
  );
}
