import { assertEquals, assertRejects } from "@std/assert";
import { GatewayError } from "../../src/lib/gateway_error.ts";
import { jsonLog } from "../../src/lib/log.ts";
import type { FromLogThread, ToLogThread } from "../../src/request_log/messages.ts";
import { MAX_QUEUED_ROWS } from "../../src/request_log/queued_rows.ts";
import type { LoggedRequest, RequestLog, RequestQuery } from "../../src/request_log/request_log.ts";
import { ROW_COLUMNS } from "../../src/request_log/row.ts";
import { FLUSH_MS, MAX_QUESTIONS } from "../../src/request_log/sqlite_request_log.ts";
import type { WorkerThreadEvents } from "../../src/workers/worker_thread.ts";
import { openTestLog, recordOf } from "./support.ts";

async function idsOf(log: RequestLog, query: Partial<RequestQuery> = {}): Promise<string[]> {
  const { requests } = await log.list({ order: "desc", limit: 100, ...query });
  return requests.map(({ requestId }) => requestId);
}

Deno.test("the request log returns every fact of a record", async () => {
  const { log, clock } = openTestLog();
  const receivedAt = clock.now();
  const record = recordOf({
    requestId: "req_a",
    receivedAt,
    endpoint: "/v1/chat/completions",
    kind: "text",
    model: "fast",
    servedModel: "vendor/fast-1",
    provider: "vendor",
    respondedAt: receivedAt + 40,
    attempts: [{
      provider: "vendor",
      credential: null,
      model: "fast-1",
      startedAt: receivedAt + 2,
      durationMs: 38,
      status: 200,
      vendorRequestId: "v-1",
      code: null,
      message: null,
    }],
    dropped: ["logit_bias"],
    tokens: { input: 10, cacheRead: 1, cacheWrite: 2, output: 5, reasoning: 3, isEstimated: true },
    images: 2,
    cost: 90_071_992_547_409_930n,
    routes: [{ model: "v", pin: null, candidates: [{ provider: "vendor", weight: 1, state: "ready" }] }],
    charged: [{
      quantities: { prompt: 10, completion: 0, per_image: 1, request: 1 },
      tariff: { prompt: 7n, per_image: 0n, request: 9n },
    }],
    reserved: { amount: 90_071_992_547_409_931n, tokens: 42 },
    refusal: { holder: "account", limit: "budget", value: "1 USD a day", resetAt: null },
    end: "completed",
    firstByteAt: receivedAt + 30,
    requestBytes: 100,
    responseBytes: 200,
  });
  clock.stall(50);
  log.observe(record);
  const expected: LoggedRequest = {
    position: clock.now() * 1_000,
    requestId: "req_a",
    receivedAt,
    durationMs: 50,
    firstByteMs: 30,
    accountId: "acme",
    keyId: "key_1",
    method: "POST",
    path: "/v1/chat/completions",
    endpoint: "/v1/chat/completions",
    kind: "text",
    model: "fast",
    servedModel: "vendor/fast-1",
    provider: "vendor",
    status: 200,
    code: null,
    message: null,
    end: "completed",
    reserved: { amount: 90_071_992_547_409_931n, tokens: 42 },
    refusal: { holder: "account", limit: "budget", value: "1 USD a day", resetAt: null },
    attempts: record.attempts,
    dropped: ["logit_bias"],
    tokens: record.tokens,
    images: 2,
    cost: 90_071_992_547_409_930n,
    routes: record.routes,
    charged: [{ price: "prompt", quantity: 10, rate: 7n }, { price: "request", quantity: 1, rate: 9n }],
    requestBytes: 100,
    responseBytes: 200,
    remote: "10.0.0.1",
  };
  assertEquals(await log.get("req_a"), expected);
  assertEquals(await log.get("req_b"), null);
  await log.close();
});

Deno.test("the request log filters by every condition", async () => {
  const { log, clock } = openTestLog();
  const start = clock.now();
  const attempt = { credential: null, model: "m", startedAt: 0, durationMs: 1, status: 500, code: "server_error" };
  log.observe(recordOf({ requestId: "req_1", model: "fast", servedModel: "v/fast-1", provider: "b" }));
  clock.stall(1_000);
  log.observe(recordOf({ requestId: "req_2", accountId: "beta", keyId: "key_2", status: 404, code: "not_found" }));
  clock.stall(1_000);
  log.observe(recordOf({
    requestId: "req_3",
    keyId: "key_3",
    status: 502,
    code: "upstream_error",
    message: "100% wrong",
    attempts: [{ ...attempt, provider: "a", vendorRequestId: "V_77", message: 'said "no"' }],
  }));
  for (
    const [query, ids] of [
      [{}, ["req_3", "req_2", "req_1"]],
      [{ order: "asc" }, ["req_1", "req_2", "req_3"]],
      [{ account: "acme" }, ["req_3", "req_1"]],
      [{ account: "acme", key: "key_3" }, ["req_3"]],
      [{ account: "beta", key: "key_3" }, []],
      [{ key: "key_2" }, ["req_2"]],
      [{ model: "fast" }, ["req_1"]],
      [{ model: "v/fast-1" }, ["req_1"]],
      [{ provider: "b" }, ["req_1"]],
      [{ provider: "a" }, ["req_3"]],
      [{ status: [404, 404] }, ["req_2"]],
      [{ status: [400, 599] }, ["req_3", "req_2"]],
      [{ code: "upstream_error" }, ["req_3"]],
      [{ from: start + 1_000 }, ["req_3", "req_2"]],
      [{ to: start + 1_000 }, ["req_1"]],
      [{ text: "REQ_2" }, ["req_2"]],
      [{ text: "100%" }, ["req_3"]],
      [{ text: "0_ w" }, []],
      [{ text: "v_77" }, ["req_3"]],
      [{ text: '"no"' }, ["req_3"]],
    ] as const satisfies readonly (readonly [Partial<RequestQuery>, readonly string[]])[]
  ) {
    assertEquals(await idsOf(log, query), [...ids], JSON.stringify(query));
  }
  await log.close();
});

Deno.test("the request log continues a list after its position, in both orders", async () => {
  const { log } = openTestLog();
  for (const id of ["req_1", "req_2", "req_3"]) log.observe(recordOf({ requestId: id }));
  for (const order of ["asc", "desc"] as const) {
    const ids: string[] = [];
    let after: number | undefined;
    do {
      const page = await log.list({ order, limit: 1, ...after !== undefined && { after } });
      ids.push(...page.requests.map(({ requestId }) => requestId));
      after = page.next ?? undefined;
    } while (after !== undefined);
    assertEquals(ids, order === "asc" ? ["req_1", "req_2", "req_3"] : ["req_3", "req_2", "req_1"]);
  }
  await log.close();
});

Deno.test("a list visits all rows, several steps of them", async () => {
  const { log, clock } = openTestLog();
  for (let batch = 0; batch < 10; batch++) {
    for (let row = 0; row < 1_000; row++) log.observe(recordOf({ requestId: `req_${batch}_${row}` }));
    clock.advance(FLUSH_MS);
    await log.get("");
  }
  assertEquals(await idsOf(log, { text: "req_0_17", limit: 2 }), ["req_0_179", "req_0_178"]);
  assertEquals(await log.list({ text: "absent", order: "desc", limit: 1 }), { requests: [], next: null });
  await log.close();
});

Deno.test("the request log removes an account's requests and no others", async () => {
  const { log } = openTestLog();
  for (let row = 0; row < 1_200; row++) {
    log.observe(recordOf({ requestId: `req_${row}`, accountId: row % 2 === 0 ? "acme" : "beta" }));
  }
  assertEquals(await log.deleteAccount("acme"), 600);
  assertEquals(await idsOf(log, { account: "acme" }), []);
  assertEquals((await idsOf(log, { account: "beta" })).length, 100);
  for (const accountId of ["acme", "beta"]) log.observe(recordOf({ requestId: "req_late", accountId }));
  assertEquals(await idsOf(log, { account: "acme" }), []);
  assertEquals((await idsOf(log, { account: "beta", limit: 1 }))[0], "req_late");
  await log.close();
});

Deno.test("requests of the admin API and of monitoring leave no row", async () => {
  const { log } = openTestLog();
  log.observe(recordOf({ path: "/admin/v1/accounts" }));
  log.observe(recordOf({ path: "/healthz", isProbe: true }));
  assertEquals(await idsOf(log), []);
  await log.close();
});

Deno.test("requests without an account are limited by address, and counted", async () => {
  const { log, clock } = openTestLog();
  const anonymous = (remote: string) => recordOf({ accountId: null, keyId: null, status: 401, remote });
  for (let sent = 0; sent < 50; sent++) log.observe(anonymous("10.0.0.1"));
  log.observe(anonymous("10.0.0.2"));
  assertEquals((await idsOf(log)).length, 6);
  assertEquals(log.stats.skipped, 45);
  clock.stall(1_000);
  for (let address = 0; address < 500; address++) log.observe(anonymous(`10.1.0.${address}`));
  assertEquals((await idsOf(log, { limit: 1_000 })).length, 106);
  await log.close();
});

Deno.test("texts of callers are cut, and all characters but zeros come back", async () => {
  const { log } = openTestLog();
  const hostile = "\u0000\u001b[31m'\"\\\ud83d\ude00\r\n";
  log.observe(recordOf({ requestId: "req_long", model: "x".repeat(1_000_000), dropped: ["y".repeat(1_000_000)] }));
  log.observe(recordOf({ requestId: "req_odd", model: hostile, message: hostile }));
  assertEquals((await log.get("req_long"))?.model, `${"x".repeat(200)}…`);
  assertEquals((await log.get("req_long"))?.dropped, [`${"y".repeat(200)}…`]);
  assertEquals((await log.get("req_odd"))?.model, hostile.replace("\0", "\ufffd"));
  assertEquals((await log.get("req_odd"))?.message, hostile.replace("\0", "\ufffd"));
  await log.close();
});

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
  assertEquals(last?.type === "append" && last.values.length, ROW_COLUMNS.length);
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
  assertEquals(last?.type === "append" && last.values[1], "req_kept");
});

Deno.test("too many queries at once are refused", async () => {
  const { start } = scriptedThreads();
  const { log } = openTestLog({ start, path: "unused" });
  for (let asked = 0; asked < MAX_QUESTIONS; asked++) void log.get("req_1");
  assertEquals((await assertRejects(() => log.get("req_1"), GatewayError)).code, "overloaded");
});
