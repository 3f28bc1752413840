import { assertEquals, assertRejects } from "@std/assert";
import { GatewayError } from "../../src/platform/lib/basics/gateway_error.ts";
import { jsonLog } from "../../src/platform/lib/basics/log.ts";
import type { FromLogThread, ToLogThread } from "../../src/observers/request_log/messages.ts";
import { MAX_QUEUED_ROWS } from "../../src/observers/request_log/queued_rows.ts";
import { splitRows } from "../../src/observers/request_log/row.ts";
import { FLUSH_MS, MAX_QUESTIONS } from "../../src/observers/request_log/threaded_request_log.ts";
import type { WorkerThreadEvents } from "../../src/platform/workers/worker_thread.ts";
import { logLaws } from "./laws.ts";
import { openTestLog, recordOf } from "./support.ts";

logLaws("in a file", () => Promise.resolve(openTestLog()));

/** A thread that a test answers for. */
function scriptedThreads() {
  const sent: ToLogThread[] = [];
  const threads: WorkerThreadEvents[] = [];
  const start = (events: WorkerThreadEvents) => {
    threads.push(events);
    return { post: (message: unknown) => void sent.push(message as ToLogThread), terminate() {}, setReferenced() {} };
  };
  const answer = (message: FromLogThread) => threads.at(-1)?.onMessage(message);
  return { sent, threads, start, answer };
}

Deno.test("a thread that does not write makes the log drop and count rows, and it recovers", () => {
  const { sent, start, answer } = scriptedThreads();
  const { log, clock } = openTestLog({ start, path: "unused" });
  for (let row = 0; row < MAX_QUEUED_ROWS + 7; row++) log.observe(recordOf());
  assertEquals(log.stats, { dropped: 7, skipped: 0, queued: MAX_QUEUED_ROWS, droppedBodies: 0 });
  for (const { type } of [...sent]) if (type === "append") answer({ type: "appended", rows: 500, failure: null });
  log.observe(recordOf());
  assertEquals(log.stats, { dropped: 7, skipped: 0, queued: 1, droppedBodies: 0 });
  clock.advance(FLUSH_MS);
  const last = sent.at(-1);
  assertEquals(last?.type === "append" && last.rows, 1);
});

Deno.test("long texts limit the queue too", () => {
  const { start } = scriptedThreads();
  const { log } = openTestLog({ start, path: "unused" });
  const dropped = Array.from({ length: 100 }, (_, index) => `${index}${"x".repeat(300)}`);
  for (let row = 0; row < MAX_QUEUED_ROWS; row++) log.observe(recordOf({ dropped }));
  assertEquals(log.stats.queued < MAX_QUEUED_ROWS / 4, true);
});

Deno.test("rows that cannot be written are counted and reported with the reason", () => {
  const lines: string[] = [];
  const { start, answer } = scriptedThreads();
  const { log, clock } = openTestLog({ start, path: "unused", log: jsonLog("info", (line) => void lines.push(line)) });
  log.observe(recordOf());
  clock.advance(FLUSH_MS);
  answer({ type: "appended", rows: 1, failure: "database or disk is full" });
  assertEquals(log.stats, { dropped: 1, skipped: 0, queued: 0, droppedBodies: 0 });
  const { event, count, reason } = JSON.parse(lines[0] ?? "");
  assertEquals({ event, count, reason }, {
    event: "request_log_dropped",
    count: 1,
    reason: "database or disk is full",
  });
});

Deno.test("a thread that ends loses what it had, and another one continues", async () => {
  const { sent, threads, start } = scriptedThreads();
  const { log, clock } = openTestLog({ start, path: "unused" });
  log.observe(recordOf({ requestId: "req_lost" }));
  const question = log.get("req_lost");
  threads[0]?.onCrash("ERR_WORKER_OUT_OF_MEMORY");
  assertEquals((await assertRejects(() => question, GatewayError)).code, "storage_unavailable");
  assertEquals(log.stats.dropped, 1);
  log.observe(recordOf({ requestId: "req_kept" }));
  clock.advance(FLUSH_MS);
  assertEquals(threads.length, 1);
  clock.advance(1_000);
  assertEquals(threads.length, 2);
  const last = sent.at(-1);
  assertEquals(last?.type === "append" && splitRows(last.text)[1], "req_kept");
});

Deno.test("too many queries at once are refused", async () => {
  const { start } = scriptedThreads();
  const { log } = openTestLog({ start, path: "unused" });
  for (let asked = 0; asked < MAX_QUESTIONS; asked++) void log.get("req_1");
  assertEquals((await assertRejects(() => log.get("req_1"), GatewayError)).code, "overloaded");
});
