import { assertEquals } from "@std/assert";
import fc from "fast-check";
import { accessLog } from "../../src/platform/http/access_log.ts";
import type { RequestRecord } from "../../src/platform/http/request/request_record.ts";
import { RecordWriter } from "../../src/threads/serving/written_records.ts";
import { jsonLog, logWritten } from "../../src/platform/lib/basics/log.ts";
import { countLog } from "../../src/observers/metrics/counted_log.ts";
import { RequestMetrics } from "../../src/observers/metrics/request_metrics.ts";
import { ManualClock } from "../support/manual_clock.ts";
import { openTestLog, recordOf, type TestFacts } from "../request_log/support.ts";

const FACTS: fc.Arbitrary<TestFacts> = fc.record({
  requestId: fc.integer({ min: 1, max: 9_999 }).map((n) => `req_${n}`),
  status: fc.constantFrom(200, 402, 502),
  code: fc.constantFrom(null, "insufficient_credits"),
  message: fc.constantFrom(null, 'a "quoted"\nmessage'),
  endpoint: fc.constantFrom(null, "/v1/chat/completions", "/v1/responses"),
  provider: fc.constantFrom(null, "acme", "other"),
  servedModel: fc.constantFrom(null, "acme/m"),
  end: fc.constantFrom(null, "completed", "cut"),
  cost: fc.constantFrom(null, 7n, 12_345_678_901n),
  tokens: fc.oneof(
    fc.constant(null),
    fc.record({
      input: fc.nat(9_999),
      cacheRead: fc.nat(99),
      cacheWrite: fc.nat(99),
      output: fc.nat(9_999),
      reasoning: fc.nat(99),
      isEstimated: fc.boolean(),
    }),
  ),
  images: fc.nat(3),
  dropped: fc.constantFrom([], ["seed"]),
  firstByteAt: fc.constantFrom(null, 1_000),
});

/** What the observers of one process make of records. */
async function observedBy(observe: (record: RequestRecord) => void, records: readonly RequestRecord[]) {
  for (const record of records) observe(record);
  await Promise.resolve();
}

Deno.test("written records: the log, the metrics and the rows are those of the records themselves", async () => {
  await fc.assert(
    fc.asyncProperty(fc.array(FACTS, { maxLength: 12 }), fc.nat(12), async (facts, cut) => {
      const clock = new ManualClock(60_000);
      const records = facts.map(recordOf);
      const plain = { lines: [] as string[], metrics: new RequestMetrics(clock), rows: openTestLog({ clock }) };
      const log = countLog(jsonLog("info", (line) => void plain.lines.push(line), () => 0));
      const toLog = accessLog(log, clock);
      await observedBy((record) => {
        toLog(record);
        plain.metrics.observe(record);
        plain.rows.log.observe(record);
      }, records);

      const other = { lines: [] as string[], metrics: new RequestMetrics(clock), rows: openTestLog({ clock }) };
      const otherLog = countLog(jsonLog("info", (line) => void other.lines.push(line), () => 0));
      const writer = new RecordWriter({ clock, hasRows: true, countsRequests: true });
      const send = () => {
        if (writer.size === 0) return;
        const { lines, counts, rows } = structuredClone(writer.take());
        logWritten(otherLog, "request", lines.split("\n"));
        other.metrics.add(counts!);
        other.rows.log.observeRows(rows!);
      };
      records.forEach((record, n) => {
        assertEquals(writer.add(record), true);
        if (n === cut) send();
      });
      send();

      assertEquals(other.lines, plain.lines);
      assertEquals(otherLog.count("request"), log.count("request"));
      assertEquals(other.metrics.families(), plain.metrics.families());
      assertEquals(other.metrics.totals(), plain.metrics.totals());
      const page = { limit: 50, order: "asc" } as const;
      assertEquals((await other.rows.log.list(page)).requests, (await plain.rows.log.list(page)).requests);
      await Promise.all([plain.rows.log.close(), other.rows.log.close()]);
    }),
    { numRuns: 15 },
  );
});

Deno.test("written records: the main thread gets whole records where it needs more", () => {
  const writer = new RecordWriter({ clock: new ManualClock(), hasRows: true, countsRequests: true });
  assertEquals(writer.add(recordOf({ accountId: null })), false);
  assertEquals(writer.add(recordOf({ cacheId: "cache_1" })), false);
  assertEquals(writer.add(recordOf({ isProbe: true })), false);
  assertEquals(writer.size, 0);
});

Deno.test("written records: rows of an account that was erased are not kept", async () => {
  const clock = new ManualClock();
  const { log } = openTestLog({ clock });
  await log.deleteAccount("erased");
  const writer = new RecordWriter({ clock, hasRows: true, countsRequests: true });
  for (const accountId of ["acme", "erased", "acme"]) writer.add(recordOf({ accountId }));
  log.observeRows(writer.take().rows!);
  const { requests } = await log.list({ limit: 10, order: "asc" });
  assertEquals(requests.map(({ accountId }) => accountId), ["acme", "acme"]);
  await log.close();
});
