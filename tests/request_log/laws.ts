import { assertEquals } from "@std/assert";
import { newRequestId } from "../../src/platform/lib/basics/ids.ts";
import type {
  LoggedRequest,
  RangedFact,
  RequestLog,
  RequestQuery,
} from "../../src/observers/request_log/request_log.ts";
import { FLUSH_MS } from "../../src/observers/request_log/threaded_request_log.ts";
import { recordOf, type TestLog } from "./support.ts";

/** The ids of the requests that a query lists. */
export async function idsOf(log: RequestLog, query: Partial<RequestQuery> = {}): Promise<string[]> {
  const { requests } = await log.list({ order: "desc", limit: 100, ...query });
  return requests.map(({ requestId }) => requestId);
}

/**
 * Registers the tests that every log of requests passes.
 *
 * @param open Opens an empty log.
 */
export function logLaws(place: string, open: () => Promise<TestLog>): void {
  const test = (name: string, run: () => Promise<void>) => Deno.test(`${name}: ${place}`, run);

  test("the request log returns every fact of a record", async () => {
    const { log, clock } = await open();
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
      priceReasons: ["above 272000 prompt tokens"],
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
      priceReasons: ["above 272000 prompt tokens"],
      requestBytes: 100,
      responseBytes: 200,
      remote: "10.0.0.1",
    };
    assertEquals(await log.get("req_a"), expected);
    assertEquals(await log.get("req_b"), null);
    await log.close();
  });

  test("the request log filters by every condition", async () => {
    const { log, clock } = await open();
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
        [{ text: "wrong", account: "beta" }, []],
        [{ text: "wrong", account: "acme", key: "key_3", provider: "a" }, ["req_3"]],
        [{ text: "wrong", status: [502, 502] }, ["req_3"]],
        [{ text: "wrong", status: [404, 404] }, []],
      ] as const satisfies readonly (readonly [Partial<RequestQuery>, readonly string[]])[]
    ) {
      assertEquals(await idsOf(log, query), [...ids], JSON.stringify(query));
    }
    await log.close();
  });

  test("the request log filters by the facts of a request", async () => {
    const { log, clock } = await open();
    const receivedAt = clock.now();
    const chat = "/v1/chat/completions";
    log.observe(recordOf({ requestId: "req_1", receivedAt, endpoint: chat, kind: "text", dropped: ["seed", "top_k"] }));
    log.observe(recordOf({
      requestId: "req_2",
      receivedAt,
      path: "/gencompat/v1beta/models/m:generateContent",
      endpoint: "/gencompat/v1beta/models/:model",
      kind: "text",
      end: "cut",
      cost: 90_071_992_547_409_930n,
    }));
    clock.stall(1_500);
    log.observe(
      recordOf({
        requestId: "req_3",
        receivedAt,
        path: "/nothing",
        remote: "10.0.0.9",
        session: "s-1",
        end: "left",
        cost: 5n,
      }),
    );
    for (
      const [query, ids] of [
        [{ endpoint: chat }, ["req_1"]],
        [{ endpoint: "/gencompat/v1beta/models/:model" }, ["req_2"]],
        [{ endpoint: "/gencompat/v1beta/models/m:generateContent" }, []],
        [{ endpoint: "/nothing" }, ["req_3"]],
        [{ endpoint: "text" }, []],
        [{ kind: "text" }, ["req_2", "req_1"]],
        [{ kind: "POST" }, []],
        [{ end: "cut" }, ["req_2"]],
        [{ end: "left", account: "acme" }, ["req_3"]],
        [{ dropped: "top_k" }, ["req_1"]],
        [{ dropped: "top" }, []],
        [{ dropped: "POST" }, []],
        [{ remote: "10.0.0.9" }, ["req_3"]],
        [{ session: "s-1", account: "acme" }, ["req_3"]],
        [{ session: "s" }, []],
        [{ ranges: [{ fact: "duration_ms", min: 1_500, max: null }] }, ["req_3"]],
        [{ ranges: [{ fact: "duration_ms", min: 1_501, max: null }] }, []],
        [{ ranges: [{ fact: "duration_ms", min: null, max: 0 }] }, ["req_2", "req_1"]],
        [{ ranges: [{ fact: "cost", min: 5n, max: null }] }, ["req_3", "req_2"]],
        [{ ranges: [{ fact: "cost", min: 6n, max: null }] }, ["req_2"]],
        [{ ranges: [{ fact: "cost", min: null, max: 6n }] }, ["req_3"]],
        [{ kind: "text", ranges: [{ fact: "cost", min: 6n, max: null }], end: "cut", account: "acme" }, ["req_2"]],
        [{ protocol: "default" }, ["req_1"]],
        [{ protocol: "content" }, ["req_2"]],
        [{ protocol: "message" }, []],
        [{ protocol: "admin", account: "acme" }, []],
      ] as const satisfies readonly (readonly [Partial<RequestQuery>, readonly string[]])[]
    ) {
      const shown = JSON.stringify(query, (_name, value) => typeof value === "bigint" ? String(value) : value);
      assertEquals(await idsOf(log, query), [...ids], shown);
    }
    await log.close();
  });

  test("the request log filters by attempts, refusals, tokens and sizes", async () => {
    const { log, clock } = await open();
    const receivedAt = clock.now();
    const attempt = { credential: null, model: "m", startedAt: 0, durationMs: 1, vendorRequestId: null, message: null };
    const failed = { ...attempt, provider: "a", status: 503, code: "unavailable" };
    const served = { ...attempt, provider: "b", status: 200, code: null };
    const tokens = { input: 10, cacheRead: 9, cacheWrite: 8, output: 5, reasoning: 4, isEstimated: true };
    const refusal = { holder: "account", limit: "budget", value: "1 USD a day", resetAt: null } as const;
    log.observe(recordOf({
      requestId: "req_1",
      receivedAt,
      attempts: [failed, served],
      tokens: { ...tokens, isEstimated: false },
      firstByteAt: receivedAt + 700,
    }));
    log.observe(recordOf({ requestId: "req_2", method: "GET", attempts: [served], tokens, images: 3 }));
    const path = "/console/api/v1/chat/completions";
    const refused = { status: 429, code: "budget_exceeded", refusal, requestBytes: 2_000 };
    log.observe(recordOf({ requestId: "req_3", path, ...refused }));
    const range = (fact: RangedFact, min: number | null, max: number | null) => ({ ranges: [{ fact, min, max }] });
    for (
      const [query, ids] of [
        [range("attempts", 2, null), ["req_1"]],
        [{ ...range("attempts", 2, null), status: [200, 299] }, ["req_1"]],
        [{ ...range("attempts", 2, null), account: "acme" }, ["req_1"]],
        [range("attempts", 1, null), ["req_2", "req_1"]],
        [range("attempts", null, 0), ["req_3"]],
        [{ attempt: { code: "unavailable" } }, ["req_1"]],
        [{ attempt: { code: "available" } }, []],
        [{ attempt: { status: [500, 599] } }, ["req_1"]],
        [{ attempt: { status: [200, 200] } }, ["req_2", "req_1"]],
        [{ attempt: { code: "unavailable", status: [200, 200] } }, []],
        [{ method: "GET" }, ["req_2"]],
        [{ refusal: { limit: "budget" } }, ["req_3"]],
        [{ refusal: { holder: "account", limit: "budget" } }, ["req_3"]],
        [{ refusal: { holder: "key" } }, []],
        [{ isEstimated: true }, ["req_2"]],
        [{ isEstimated: false }, ["req_1"]],
        [{ isFromConsole: true }, ["req_3"]],
        [{ isFromConsole: false }, ["req_2", "req_1"]],
        [range("first_byte_ms", 700, null), ["req_1"]],
        [range("first_byte_ms", null, 699), ["req_3", "req_2"]],
        [range("input_tokens", 10, 10), ["req_2", "req_1"]],
        [range("input_tokens", 11, null), []],
        [range("output_tokens", 5, 5), ["req_2", "req_1"]],
        [range("output_tokens", null, 4), []],
        [range("images", 1, null), ["req_2"]],
        [range("request_bytes", 2_000, null), ["req_3"]],
        [{ ranges: [...range("images", 1, 3).ranges, ...range("output_tokens", 1, null).ranges] }, ["req_2"]],
      ] as const satisfies readonly (readonly [Partial<RequestQuery>, readonly string[]])[]
    ) {
      assertEquals(await idsOf(log, query), [...ids], JSON.stringify(query));
    }
    await log.close();
  });

  test("the request log finds texts of errors, ids and their parts", async () => {
    const { log, clock } = await open();
    const attempt = { credential: null, startedAt: 0, durationMs: 1, provider: "a", model: "m" };
    const failed = { ...attempt, status: 529, vendorRequestId: "v-1", code: "overloaded", message: "Too busy" };
    const served = { ...attempt, status: 200, vendorRequestId: "v-2", code: null, message: null };
    const ids = [0, 1, 2].map(() => newRequestId(clock.now()));
    const [plain = "", retried = "", refused = ""] = ids;
    log.observe(recordOf({ requestId: plain, attempts: [{ ...served, vendorRequestId: "v-busy-3" }] }));
    log.observe(recordOf({ requestId: retried, attempts: [failed, served] }));
    log.observe(recordOf({ requestId: refused, status: 401, accountId: "beta", message: `Not ${plain}, too busy` }));
    for (
      const [query, found] of [
        [{ text: "too busy" }, [refused, retried]],
        [{ text: "busy" }, [refused, retried]],
        [{ text: "busy", order: "asc", limit: 1 }, [retried]],
        [{ text: "busy-3" }, [plain]],
        [{ text: "V-2" }, [retried]],
        [{ text: retried }, [retried]],
        [{ text: plain }, [plain]],
        [{ text: plain, account: "beta" }, []],
        [{ text: plain, status: [400, 599] }, []],
        [{ text: plain.slice(4, 27) }, [refused, plain]],
        [{ text: newRequestId(clock.now()) }, []],
      ] as const satisfies readonly (readonly [Partial<RequestQuery>, readonly string[]])[]
    ) {
      assertEquals(await idsOf(log, query), [...found], JSON.stringify(query));
    }
    await log.close();
  });

  test("the request log continues a list after its position, in both orders", async () => {
    const { log } = await open();
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

  test("a list visits all rows, several steps of them", async () => {
    const { log, clock } = await open();
    for (let batch = 0; batch < 10; batch++) {
      for (let row = 0; row < 1_000; row++) log.observe(recordOf({ requestId: `req_${batch}_${row}` }));
      clock.advance(FLUSH_MS);
      await log.get("");
    }
    assertEquals(await idsOf(log, { text: "req_0_17", limit: 2 }), ["req_0_179", "req_0_178"]);
    assertEquals(await log.list({ text: "absent", order: "desc", limit: 1 }), { requests: [], next: null });
    await log.close();
  });

  test("the request log removes an account's requests and no others", async () => {
    const { log } = await open();
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

  test("requests of the admin API and of monitoring leave no row", async () => {
    const { log } = await open();
    log.observe(recordOf({ path: "/admin/v1/accounts" }));
    log.observe(recordOf({ path: "/healthz", isProbe: true }));
    assertEquals(await idsOf(log), []);
    await log.close();
  });

  test("requests without an account are limited by address, and counted", async () => {
    const { log, clock } = await open();
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

  test("texts of callers are cut, and all characters but zeros come back", async () => {
    const { log } = await open();
    const hostile = "\u0000\u001b[31m'\"\\\ud83d\ude00\r\n";
    log.observe(recordOf({ requestId: "req_long", model: "x".repeat(1_000_000), dropped: ["y".repeat(1_000_000)] }));
    log.observe(recordOf({ requestId: "req_odd", model: hostile, message: hostile }));
    assertEquals((await log.get("req_long"))?.model, `${"x".repeat(200)}…`);
    assertEquals((await log.get("req_long"))?.dropped, [`${"y".repeat(200)}…`]);
    assertEquals((await log.get("req_odd"))?.model, hostile.replace("\0", "\ufffd"));
    assertEquals((await log.get("req_odd"))?.message, hostile.replace("\0", "\ufffd"));
    await log.close();
  });
}
