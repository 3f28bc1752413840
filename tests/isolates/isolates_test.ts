import { assert, assertEquals, assertRejects, assertStringIncludes } from "@std/assert";
import { createMeter } from "../../src/money/billing/meter/create_meter.ts";
import { createCatalog } from "../../src/vendors/catalog/catalog.ts";
import { readConfig } from "../../src/config/config.ts";
import type { RequestRecord } from "../../src/platform/http/request/request_record.ts";
import { WrongKeys } from "../../src/platform/http/wrong_keys.ts";
import { unobservedRecord } from "../support/unobserved_record.ts";
import { Isolates, unbalancedReason } from "../../src/threads/serving/isolates.ts";
import type { FromServing, ToServing } from "../../src/threads/serving/messages.ts";
import { readMessages } from "../../src/threads/serving/wire.ts";
import { jsonLog } from "../../src/platform/lib/basics/log.ts";
import { threadModule } from "../../src/platform/lib/process/program_files.ts";
import { ThreadUse } from "../../src/platform/lib/process/thread_use.ts";
import { createCircuitBreaker } from "../../src/vendors/routing/circuit_breaker.ts";
import { BoundedMemory } from "../../src/services/texts/memory/bounded_memory.ts";
import { Lessors } from "../../src/threads/leases/lessors.ts";
import type { StateThread } from "../../src/threads/state/state_thread.ts";
import type { WorkerThreadEvents } from "../../src/platform/workers/worker_thread.ts";
import { unlimitedKey } from "../support/callers.ts";
import { itemAt } from "../support/items.ts";
import { ManualClock } from "../support/manual_clock.ts";
import { openMemoryStore } from "../support/memory_store.ts";

/** An isolate that follows the test's script. */
class ScriptedIsolate implements StateThread {
  readonly got: ToServing[] = [];
  isTerminated = false;

  constructor(readonly events: WorkerThreadEvents) {}

  post(messages: unknown): void {
    this.got.push(...readMessages<ToServing>(messages));
  }

  sendResult(): void {}

  terminate(): void {
    this.isTerminated = true;
  }

  setReferenced(): void {}

  say(...messages: readonly FromServing[]): void {
    this.events.onMessage(messages);
  }

  /** The ids of the changes that it received. */
  get changes(): number[] {
    return this.got.flatMap((message) => "id" in message ? [message.id] : []);
  }
}

const RESERVED = { amount: 1_000n, outputLimit: null };

/** Two isolates that a test plays, or real ones. These listen at `port`, and the main thread is not at `relayPort`. */
async function stage(real?: { readonly port: number; readonly relayPort: number }) {
  const clock = new ManualClock();
  const lines: string[] = [];
  const log = jsonLog("debug", (line) => void lines.push(line));
  const store = await openMemoryStore({ clock });
  const credit = { account: "demo", available: 10_000n, held: 0n };
  await store.commit(null, {
    changeBalances: [credit],
    ledgerEntries: [{ ...credit, operation: "credit", reference: "start" }],
  });
  const threads: ScriptedIsolate[] = [];
  const records: RequestRecord[] = [];
  const removed: string[] = [];
  let folders = 0;
  const meter = createMeter({ store, clock, log });
  const threadUse = new ThreadUse(ThreadUse.bufferFor(3), 0);
  const isolates = new Isolates({
    count: 2,
    heapMegabytes: 4_096,
    config: readConfig("{}", "test.json", () => undefined),
    listed: [],
    own: [],
    listen: { host: "127.0.0.1", port: real?.port ?? 1 },
    relay: { port: real?.relayPort ?? 2, token: "token" },
    baseUrl: "http://127.0.0.1:1",
    circuitFlag: new SharedArrayBuffer(4),
    writableFlag: new SharedArrayBuffer(4),
    lessors: new Lessors(clock),
    publicWrongKeys: new WrongKeys(clock),
    journals: null,
    uploads: {
      newFolder: () => `uploads-${++folders}`,
      remove: (folder) => Promise.resolve(void removed.push(folder)),
    },
    memoryBytes: 1_000_000,
    threadUse,
    observer: (record) => void records.push(record),
    writtenObserver: null,
    hasRows: false,
    countsRequests: true,
    entry: threadModule("entry/app/threads/serving_thread"),
    meter,
    store,
    breaker: createCircuitBreaker({ clock }),
    catalog: createCatalog([]),
    reasoning: new BoundedMemory(clock),
    items: new BoundedMemory(clock),
    clock,
    log,
    ...!real && {
      start: (events) => {
        const thread = new ScriptedIsolate(events);
        threads.push(thread);
        return thread;
      },
    },
  });
  const started = isolates.start();
  return { clock, isolates, threads, records, meter, lines, started, threadUse, removed };
}

/** Two isolates that accept connections. */
async function listeningStage() {
  const all = await stage();
  for (const thread of all.threads) thread.say({ type: "listening" });
  await all.started;
  return all;
}

/** Resolves when a thread has received a change. */
async function changed(thread: { readonly changes: readonly number[] }): Promise<void> {
  while (thread.changes.length === 0) await turn();
}

async function turn(): Promise<void> {
  await new Promise((resolve) => setTimeout(resolve, 0));
}

Deno.test("isolates: the start fails if one cannot accept connections, and the others end", async () => {
  const { threads, started } = await stage();
  itemAt(threads, 0).say({ type: "listening" });
  itemAt(threads, 1).say({ type: "unable", reason: "AddrInUse" });
  await assertRejects(() => started, Error, "AddrInUse");
  assert(threads.every(({ isTerminated }) => isTerminated));
});

Deno.test("isolates: a system that does not distribute connections is named, Linux is not", () => {
  assertEquals(unbalancedReason("linux"), null);
  assertStringIncludes(unbalancedReason("darwin") ?? "", "expected server.isolates: 1");
});

Deno.test("isolates: a change is applied when every isolate has said so", async () => {
  const { isolates, threads } = await listeningStage();
  let isApplied = false;
  isolates.evictAccount("demo");
  void isolates.changesApplied.then(() => isApplied = true);
  const [first, second] = [itemAt(threads, 0), itemAt(threads, 1)];
  await changed(first);
  const id = itemAt(first.changes, 0);
  first.say({ type: "acknowledged", id });
  await turn();
  assertEquals([isApplied, second.changes], [false, [id]]);
  second.say({ type: "acknowledged", id });
  await turn();
  assert(isApplied);
});

Deno.test("isolates: a change does not wait for an isolate that ended or does not respond", async () => {
  const { isolates, threads, clock } = await listeningStage();
  isolates.evictAccount("demo");
  const [first, second] = [itemAt(threads, 0), itemAt(threads, 1)];
  await changed(first);
  first.say({ type: "acknowledged", id: itemAt(first.changes, 0) });
  second.events.onCrash("ERR_WORKER_OUT_OF_MEMORY");
  await isolates.changesApplied;
  isolates.forgetReplies("demo");
  await turn();
  assertEquals(first.got.at(-1), { type: "forget-replies", id: 2, accountId: "demo" });
  first.say({ type: "acknowledged", id: 2 });
  await isolates.changesApplied;
  isolates.setConfig(readConfig("{}", "test.json", () => undefined), []);
  const applied = isolates.changesApplied;
  await turn();
  await clock.advance(30_000);
  await applied;
});

Deno.test("isolates: one that ends is started again, later each time, and the other continues", async () => {
  const { threads, isolates, clock, lines } = await listeningStage();
  itemAt(threads, 0).events.onCrash("ERR_WORKER_OUT_OF_MEMORY");
  assertEquals([threads.length, isolates.listening], [2, 1]);
  await clock.advance(100);
  itemAt(threads, 2).events.onCrash("ERR_WORKER_OUT_OF_MEMORY");
  await clock.advance(199);
  assertEquals(threads.length, 3);
  await clock.advance(1);
  assertEquals(threads.length, 4);
  itemAt(threads, 3).say({ type: "listening" });
  assertEquals(isolates.listening, 2);
  assertEquals(lines.filter((line) => line.includes("worker_crashed")).length, 2);
});

Deno.test("isolates: one that cannot listen after it ended is logged and started again until it can", async () => {
  const { threads, isolates, clock, lines } = await listeningStage();
  itemAt(threads, 0).events.onCrash("ERR_WORKER_OUT_OF_MEMORY");
  await clock.advance(100);
  itemAt(threads, 2).say({ type: "unable", reason: "AddrInUse" });
  assert(itemAt(threads, 2).isTerminated);
  assertEquals(lines.filter((line) => line.includes("isolate_not_listening")).length, 1);
  isolates.evictAccount("demo");
  await changed(itemAt(threads, 1));
  itemAt(threads, 1).say({ type: "acknowledged", id: itemAt(itemAt(threads, 1).changes, 0) });
  await isolates.changesApplied; // does not wait for the one that ended
  await clock.advance(200);
  assertEquals([threads.length, isolates.listening], [4, 1]);
  itemAt(threads, 3).say({ type: "listening" });
  assertEquals(isolates.listening, 2);
});

Deno.test("isolates: what one that ended held counts no more", async () => {
  const { threads, threadUse } = await listeningStage();
  const use = new ThreadUse(threadUse.buffer, 1);
  use.setMemory(5_000);
  use.setStreams(3);
  assertEquals([threadUse.othersMemory, threadUse.othersStreams], [5 * 1_024, 3]);
  itemAt(threads, 0).events.onCrash("ERR_WORKER_OUT_OF_MEMORY");
  assertEquals([threadUse.othersMemory, threadUse.othersStreams], [0, 0]);
});

Deno.test("isolates: what one counts while it ends, and after that, does not count against the next one", async () => {
  const { threads, threadUse, clock } = await listeningStage();
  itemAt(threads, 0).events.onCrash("ERR_WORKER_OUT_OF_MEMORY");
  const use = new ThreadUse(threadUse.buffer, 1);
  const group = use.groupOf("demo");
  use.setMemory(5_000);
  use.addToGroup(group, 5_000);
  await clock.advance(100);
  assertEquals(threads.length, 3);
  assertEquals([threadUse.othersMemory, threadUse.othersMemoryOf(group)], [0, 0]);
});

Deno.test("isolates: the uploads that one left are removed when it has ended, and no others", async () => {
  const { threads, isolates, clock, removed } = await listeningStage();
  itemAt(threads, 0).events.onCrash("ERR_WORKER_OUT_OF_MEMORY");
  await turn();
  assertEquals(removed, ["uploads-1"]);
  await clock.advance(100);
  const stopped = isolates.stop(1_000);
  for (const thread of threads) thread.say({ type: "stopped" });
  await stopped;
  assertEquals(removed.toSorted(), ["uploads-1", "uploads-2", "uploads-3"]);
});

Deno.test("isolates: the reservations of one that ends are released", async () => {
  const { threads, meter } = await listeningStage();
  const [thread] = threads;
  const caller = unlimitedKey("demo");
  thread!.say({
    type: "call",
    call: 1,
    request: null,
    what: { name: "admit", caller, reserved: RESERVED, wantsLease: null },
  });
  while (thread!.got.length === 0) await turn();
  assertEquals(meter.reserved("demo"), 1_000n);
  thread!.events.onCrash("ERR_WORKER_OUT_OF_MEMORY");
  await turn();
  assertEquals(meter.reserved("demo"), 0n);
});

Deno.test("isolates: while the main thread takes no requests, others are refused in the protocol of their path", async () => {
  const [port, relayPort] = [freePort(), freePort()];
  const { isolates, started, records } = await stage({ port, relayPort });
  await started;
  const ask = async (path: string) => {
    const response = await fetch(`http://127.0.0.1:${port}${path}`);
    return { status: response.status, wait: response.headers.get("retry-after"), body: await response.json() };
  };
  const plain = await ask("/v1/key");
  assertEquals([plain.status, plain.wait, plain.body.error.code], [503, "1", "overloaded"]);
  const message = await ask("/msgcompat/v1/files");
  assertEquals([message.status, message.body.type, message.body.error.type], [503, "error", "overloaded_error"]);
  await isolates.recordsSent();
  assertEquals(records.map(({ status }) => status), [503, 503]);
  await isolates.stop(1_000);
});

function freePort(): number {
  using listener = Deno.listen({ hostname: "127.0.0.1", port: 0 });
  return listener.addr.port;
}

Deno.test("isolates: a record of an isolate reaches the observers with its bodies", async () => {
  const { threads, records } = await listeningStage();
  const { facts, arrival } = { facts: unobservedRecord().facts(), arrival: unobservedRecord().arrival };
  const request = new TextEncoder().encode("question");
  const refusal = { holder: "key", limit: "rpm", value: "60", resetAt: 9 } as const;
  itemAt(threads, 0).say({
    type: "record",
    arrival: { ...arrival, requestId: "req_1" },
    facts: { ...facts, model: "acme/m" },
    outcome: {
      trace: null,
      endpoint: "/v1/x",
      isProbe: false,
      status: 429,
      code: "rate_limited",
      message: "no",
      refusal,
      respondedAt: 5,
    },
    bodies: { request, response: null, isCut: true },
  });
  const record = itemAt(records, 0);
  const { model, status, code, endpoint } = record;
  assertEquals([record.arrival.requestId, model, status, code, endpoint], [
    "req_1",
    "acme/m",
    429,
    "rate_limited",
    "/v1/x",
  ]);
  assertEquals(record.refusal, refusal);
  assertEquals(record.capture?.take(false), { request, response: null, isCut: true });
});

Deno.test("isolates: a stop waits until all have stopped and their calls are charged", async () => {
  const { isolates, threads } = await listeningStage();
  let isStopped = false;
  const stopped = isolates.stop(1_000).then(() => isStopped = true);
  await turn();
  itemAt(threads, 0).say({ type: "stopped" });
  await turn();
  assertEquals([isStopped, threads.map(({ got }) => got.at(-1)?.type)], [false, ["stop", "stop"]]);
  itemAt(threads, 1).say({ type: "stopped" });
  await stopped;
  assert(threads.every(({ isTerminated }) => isTerminated));
});
