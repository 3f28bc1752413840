import { assertEquals } from "@std/assert";
import { accessLog } from "../../src/platform/http/access_log.ts";
import { RequestRecord } from "../../src/platform/http/request/request_record.ts";
import { appendRow, type RowValue } from "../../src/observers/request_log/row.ts";
import { RequestMetrics } from "../../src/observers/metrics/request_metrics.ts";
import { ManualClock } from "../support/manual_clock.ts";
import { recordingLog } from "../billing/support.ts";

const ARRIVAL = {
  requestId: "req_1",
  receivedAt: 1_790_000_000_000,
  method: "POST",
  sentPath: "/v1/chat/completions",
  path: "/v1/chat/completions",
  remote: "10.0.0.1",
};

/** The time of the first byte in the log lines, in the request log, and the sum that the metrics have. */
function writtenOf(record: RequestRecord) {
  const clock = new ManualClock(ARRIVAL.receivedAt + 5_000);
  const log = recordingLog();
  accessLog(log, clock)(record);
  const row: RowValue[] = [];
  appendRow(row, record, clock.now());
  const facts: unknown[] = JSON.parse(String(row.at(-1)));
  const metrics = new RequestMetrics(clock);
  metrics.observe(record);
  const sum = metrics.families().find(({ name }) => name === "switchyard_first_byte_seconds")?.samples
    .find(({ metricName }) => metricName === "switchyard_first_byte_seconds_sum");
  return [log.lines[0]?.fields.firstByteMs, facts[1], sum?.value];
}

Deno.test("a request that ended without a response has no time of its first byte", () => {
  assertEquals(writtenOf(new RequestRecord(ARRIVAL)), [undefined, null, 0]);
});

Deno.test("the time of the first byte is that of the head, or of the first bytes of a stream, and never negative", () => {
  const responded = (respondedMs: number, firstByteMs: number | null) => {
    const { receivedAt } = ARRIVAL;
    const firstByteAt = firstByteMs === null ? null : receivedAt + firstByteMs;
    const facts = { status: 200, respondedAt: receivedAt + respondedMs, firstByteAt };
    return writtenOf(Object.assign(new RequestRecord(ARRIVAL), facts));
  };
  assertEquals(responded(250, null), [250, 250, 0.25]);
  assertEquals(responded(250, 1_500), [1_500, 1_500, 1.5]);
  assertEquals(responded(-250, null), [0, 0, 0]); // the clock was set back
});

Deno.test("an observer that fails is reported, and the request ends", () => {
  const reported: string[] = [];
  const onError = (event: ErrorEvent) => {
    event.preventDefault();
    reported.push(event.error.message);
  };
  addEventListener("error", onError);
  try {
    const record = new RequestRecord(ARRIVAL, () => {
      throw new RangeError("The log is broken");
    });
    record.release();
  } finally {
    removeEventListener("error", onError);
  }
  assertEquals(reported, ["The log is broken"]);
});
