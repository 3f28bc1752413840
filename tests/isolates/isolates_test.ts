import { assert, assertEquals, assertRejects } from "@std/assert";
import { createMeter } from "../../src/billing/meter.ts";
import { createCatalog } from "../../src/catalog/catalog.ts";
import { readConfig } from "../../src/config/config.ts";
import type { RequestRecord } from "../../src/http/request_record.ts";
import { unobservedRecord } from "../../src/http/request_record.ts";
import { Isolates } from "../../src/isolates/isolates.ts";
import type { FromIsolate, ToIsolate } from "../../src/isolates/messages.ts";
import { readMessages } from "../../src/isolates/wire.ts";
import { jsonLog } from "../../src/lib/log.ts";
import { createCircuitBreaker } from "../../src/routing/circuit_breaker.ts";
import { BoundedMemory } from "../../src/texts/bounded_memory.ts";
import type { StateThread } from "../../src/thread_state/state_thread.ts";
import type { WorkerThreadEvents } from "../../src/workers/worker_thread.ts";
import { unlimitedKey } from "../support/callers.ts";
import { itemAt } from "../support/items.ts";
import { ManualClock } from "../support/manual_clock.ts";
import { openMemoryStore } from "../support/memory_store.ts";

/** An isolate that follows the test's script. */
class ScriptedIsolate implements StateThread {
  readonly got: ToIsolate[] = [];
  isTerminated = false;

  constructor(readonly events: WorkerThreadEvents) {}

  post(messages: unknown): void {
    this.got.push(...readMessages<ToIsolate>(messages));
  }

  sendResult(): void {}

  terminate(): void {
    this.isTerminated = true;
  }

  setReferenced(): void {}

  say(...messages: readonly FromIsolate[]): void {
    this.events.onMessage(messages);
  }

  /** The ids of the changes that it received. */
  get changes(): number[] {
    return this.got.flatMap((message) => "id" in message ? [message.id] : []);
  }
}

const RESERVED = { amount: 1_000n, outputLimit: null };

async function stage() {
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
  const meter = createMeter({ store, clock, log });
  const isolates = new Isolates({
    count: 2,
    config: readConfig("{}", "test.json", () => undefined),
    discovered: [],
    own: [],
    listen: { host: "127.0.0.1", port: 1 },
    relay: { port: 2, token: "token" },
    baseUrl: "http://127.0.0.1:1",
    circuitFlag: new SharedArrayBuffer(4),
    memoryBytes: 1_000,
    observer: (record) => void records.push(record),
    entry: new URL("file:///unused.ts"),
    meter,
    store,
    breaker: createCircuitBreaker({ clock }),
    catalog: createCatalog([]),
    reasoning: new BoundedMemory(clock),
    items: new BoundedMemory(clock),
    clock,
    log,
    start: (events) => {
      const thread = new ScriptedIsolate(events);
      threads.push(thread);
      return thread;
    },
  });
  const started = isolates.start();
  return { clock, isolates, threads, records, meter, lines, started };
}

/** Two isolates that accept connections. */
async function listeningStage() {
  const all = await stage();
  for (const thread of all.threads) thread.say({ type: "listening" });
  await all.started;
  return all;
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

Deno.test("isolates: a change is applied when every isolate has said so", async () => {
  const { isolates, threads } = await listeningStage();
  let isApplied = false;
  isolates.evictAccount("demo");
  void isolates.changesApplied.then(() => isApplied = true);
  await turn();
  const [first, second] = [itemAt(threads, 0), itemAt(threads, 1)];
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
  await turn();
  const [first, second] = [itemAt(threads, 0), itemAt(threads, 1)];
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

Deno.test("isolates: the reservations of one that ends are released", async () => {
  const { threads, meter } = await listeningStage();
  const [thread] = threads;
  const caller = unlimitedKey("demo");
  thread!.say({ type: "call", call: 1, request: null, what: { name: "admit", caller, reserved: RESERVED } });
  while (thread!.got.length === 0) await turn();
  assertEquals(meter.reserved("demo"), 1_000n);
  thread!.events.onCrash("ERR_WORKER_OUT_OF_MEMORY");
  await turn();
  assertEquals(meter.reserved("demo"), 0n);
});

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
