import { assert, assertEquals, assertMatch } from "@std/assert";
import { newApiKey } from "../../../src/billing/api_key.ts";
import type { ThreadModule } from "../../../src/lib/program_files.ts";
import { type Sandbox, startSandbox } from "../../../src/sandbox/mod.ts";
import { textModel } from "../../support/gateway.ts";
import { type GatewayProcess, startGatewayProcess } from "../../support/gateway_process.ts";
import { itemAt } from "../../support/items.ts";

interface Spinning {
  readonly process: GatewayProcess;
  readonly address: string;
  readonly key: string;
  readonly adminKey: string;
  readonly sandbox: Sandbox;
  /** Holds up all threads of a kind. */
  spin(kind: ThreadModule | "main", ms: number): Promise<void>;
  chat(text: string, isStream: boolean): Promise<Response>;
}

/** Runs `spinning_gateway.ts` until the test ends it. */
async function withSpinning(server: Record<string, unknown>, test: (gateway: Spinning) => Promise<void>) {
  const folder = await Deno.makeTempDir();
  const sandbox = await startSandbox({ port: 0 });
  const [key, adminKey] = [newApiKey(), newApiKey()];
  const config = {
    server: { port: 0, admin_key: adminKey, isolates: 1, ...server },
    store: `kv:${folder}/store.db`,
    files: `${folder}/files`,
    limits: { large_body: 20_000 },
    billing: { durability: "power" },
    accounts: [{ id: "demo", balance: "25.00", keys: [key] }],
    providers: { vendor: { kind: "openai", base_url: sandbox.baseUrls.openai, api_key: "vendor-key", speaks: "both" } },
    models: [textModel("sandbox/chat-1", ["vendor"])],
  };
  await Deno.writeTextFile(`${folder}/switchyard.json`, JSON.stringify(config));
  const process = startGatewayProcess({
    program: new URL("./spinning_gateway.ts", import.meta.url),
    args: ["serve", "--config", `${folder}/switchyard.json`],
    folder,
  });
  const address = itemAt(await process.until(/ready at (http:\S+)/), 1);
  try {
    await test({
      process,
      address,
      key,
      adminKey,
      sandbox,
      spin: (kind, ms) => Deno.writeTextFile(`${folder}/spin`, `${kind} ${ms}`),
      chat: (content, stream) =>
        fetch(`${address}/v1/chat/completions`, {
          method: "POST",
          headers: { authorization: `Bearer ${key}`, "content-type": "application/json" },
          body: JSON.stringify({ model: "sandbox/chat-1", stream, messages: [{ role: "user", content }] }),
        }),
    });
  } finally {
    try {
      process.kill("SIGKILL");
    } catch { /* it has ended */ }
    await process.ended;
    await sandbox.stop();
    await Deno.remove(folder, { recursive: true });
  }
}

/** The lines of an event in the log of a process. */
function linesOf({ log }: GatewayProcess, event: string): Record<string, unknown>[] {
  return log().split("\n").filter((line) => line.includes(`"event":"${event}"`)).map((line) => JSON.parse(line));
}

function pause(): Promise<undefined> {
  return new Promise((resolve) => setTimeout(resolve, 50, undefined));
}

/** Resolves when a process has logged an event. */
async function logged(process: GatewayProcess, event: string): Promise<void> {
  while (linesOf(process, event).length === 0) await pause();
}

/** How each kind of thread starts, so that it can spin. */
const KINDS: readonly {
  readonly module: ThreadModule | "main";
  readonly kind: string;
  readonly server?: Record<string, unknown>;
  readonly start?: (gateway: Spinning) => Promise<void>;
}[] = [
  { module: "main", kind: "main" },
  { module: "app/isolate_thread", kind: "isolate", server: { isolates: 2 } },
  {
    module: "app/large_request_thread",
    kind: "large requests",
    start: async ({ chat }) => void await (await chat("word ".repeat(6_000), false)).text(),
  },
  {
    module: "workers/token_entry",
    kind: "tokens",
    start: async ({ chat }) => {
      const { body } = await chat("[[gap 20]] [[words 500]] go", true);
      const reader = body!.getReader();
      await reader.read();
      await reader.cancel();
    },
  },
  { module: "store/journal/journal_entry", kind: "journal" },
];

for (const { module, kind, server = {}, start } of KINDS) {
  Deno.test(`watch: a thread that spins ends the process after server.stall_limit: ${kind}`, () =>
    withSpinning({ ...server, stall_limit: 2 }, async (gateway) => {
      const { process, spin } = gateway;
      await start?.(gateway);
      const ended = process.ended.then(({ signal }) => signal);
      // A thread that has just been started may not listen yet.
      let signal: Deno.Signal | null | undefined;
      while (signal === undefined) {
        await spin(module, 600_000);
        signal = await Promise.race([ended, pause()]);
      }
      assertEquals(signal, "SIGKILL");
      assertEquals(itemAt(linesOf(process, "event_loop_stalled"), 0).ref, kind);
      assertEquals(itemAt(linesOf(process, "process.killed"), 0).ref, kind);
    }));
}

Deno.test("watch: a thread that stands still for a while is logged with its work, counted, and goes on", () =>
  withSpinning({ stall_limit: 0 }, async ({ process, spin, address, adminKey }) => {
    await spin("main", 8_000);
    await logged(process, "event_loop_stalled");
    const { time: _time, durationMs: _durationMs, ...line } = itemAt(linesOf(process, "event_loop_stalled"), 0);
    assertEquals(line, {
      level: "error",
      event: "event_loop_stalled",
      ref: "main",
      state: "attempt",
      requestId: "req_of_the_test",
      provider: "vendor",
    });
    const metrics = await fetch(`${address}/metrics`, { headers: { authorization: `Bearer ${adminKey}` } });
    const text = await metrics.text();
    assertMatch(text, /^switchyard_event_loop_stalls_total\{thread="main"\} 1$/m);
    assertMatch(text, /^switchyard_lost_threads 0$/m);
  }));

for (const module of ["main", "app/isolate_thread"] as const) {
  Deno.test(`watch: SIGTERM ends the process though a thread spins: ${module}`, () =>
    withSpinning({ stall_limit: 0, shutdown_grace: 0, isolates: 2 }, async ({ process, spin }) => {
      await spin(module, 600_000);
      await logged(process, "event_loop_stalled");
      process.kill("SIGTERM");
      const { signal } = await process.ended;
      assert(signal === null || linesOf(process, "process.killed").length === 1);
    }));
}
