import { assert, assertEquals } from "@std/assert";
import fc from "fast-check";
import type { RequestRecord } from "../../src/platform/http/request/request_record.ts";
import { unobservedRecord } from "../support/unobserved_record.ts";
import { Histogram, REQUEST_SECONDS } from "../../src/platform/lib/collections/histogram.ts";
import { writeMetrics } from "../../src/observers/metrics/exposition.ts";
import { RequestMetrics } from "../../src/observers/metrics/request_metrics.ts";
import { quantileOf } from "../../src/observers/metrics/traffic_totals.ts";

function recordOf(fields: Partial<RequestRecord>): RequestRecord {
  return Object.assign(unobservedRecord(), { endpoint: "/v1/x", status: 200, ...fields });
}

Deno.test("the number of series is bounded, and no request is lost", () => {
  const metrics = new RequestMetrics({ now: () => 0 });
  for (let nth = 0; nth < 3_000; nth++) metrics.observe(recordOf({ servedModel: `m/${nth}`, provider: "p" }));
  const requests = metrics.families().find(({ name }) => name === "switchyard_requests_total")!;
  assert(requests.samples.length <= 1_001, `${requests.samples.length}`);
  assertEquals(requests.samples.reduce((sum, { value }) => sum + value, 0), 3_000);
  assertEquals(requests.samples.find(({ labels }) => labels.model === "other")?.value, 2_000);
});

Deno.test("tokens are summed by their kind, and those that another thread counted are added", () => {
  const tokens = { input: 1_000, cacheRead: 200, cacheWrite: 30, output: 400, reasoning: 5, isEstimated: false };
  const record = recordOf({ tokens, servedModel: "m", provider: "p" });
  const [metrics, other] = [new RequestMetrics({ now: () => 0 }), new RequestMetrics({ now: () => 0 })];
  for (const each of [metrics, metrics, other]) each.observe(record);
  metrics.add(other.take());
  const { samples } = metrics.families().find(({ name }) => name === "switchyard_tokens_total")!;
  assertEquals(Object.fromEntries(samples.map(({ labels, value }) => [labels.type, value])), {
    input: 3_000,
    cache_read: 600,
    cache_write: 90,
    output: 1_200,
    reasoning: 15,
  });
  const { inputTokens, outputTokens } = metrics.totals();
  assertEquals([inputTokens, outputTokens], [3_000, 1_200]);
});

Deno.test("costs are summed exactly before they become a double", () => {
  const metrics = new RequestMetrics({ now: () => 0 });
  for (let nth = 0; nth < 1_000; nth++) metrics.observe(recordOf({ cost: 1n, servedModel: "m", provider: "p" }));
  const cost = metrics.families().find(({ name }) => name === "switchyard_cost_usd_total")!;
  assertEquals(cost.samples.map(({ value }) => value), [1e-7]);
});

Deno.test("a histogram counts every value once, in the first range that holds it", () => {
  fc.assert(fc.property(
    fc.array(fc.double({ min: 0, max: 20, noNaN: true }), { maxLength: 50 }),
    fc.uniqueArray(fc.double({ min: 0.001, max: 10, noNaN: true }), { minLength: 1, maxLength: 8 }),
    (values, unordered) => {
      const bounds = unordered.toSorted((a, b) => a - b);
      const histogram = new Histogram(bounds);
      for (const value of values) histogram.observe(value);
      const samples = histogram.samples("h", {});
      bounds.forEach((bound, at) => assertEquals(samples[at]!.value, values.filter((value) => value <= bound).length));
      assertEquals(samples[bounds.length]!.value, values.length);
      assertEquals(samples.at(-1)!.value, values.length);
    },
  ));
});

Deno.test("labels are escaped, so that no value can add a line", async () => {
  const metrics = new RequestMetrics({ now: () => 0 });
  metrics.observe(recordOf({ servedModel: 'a"\n\\evil 1', provider: "p" }));
  const text = await writeMetrics(metrics.families());
  assert(!text.includes("\nevil"), text);
  assert(text.includes('model="a\\"\\n\\\\evil 1"'), text);
});

Deno.test("totals() has durations and first bytes of the same requests, so that no first byte is after the end", () => {
  const [served, failed] = [fc.constant(200), fc.constantFrom(404, 429, 502)];
  const request = fc.record({ status: fc.oneof(served, failed), firstByteMs: fc.nat(5_000), restMs: fc.nat(5_000) });
  fc.assert(fc.property(fc.array(request), fc.constantFrom(0.5, 0.95, 0.99), (requests, quantile) => {
    let now = 0;
    const metrics = new RequestMetrics({ now: () => now });
    for (const { status, firstByteMs, restMs } of requests) {
      now = firstByteMs + (status === 200 ? restMs : 0);
      const record = recordOf({ status, firstByteAt: status === 200 ? firstByteMs : null, respondedAt: 0 });
      metrics.observe(record);
    }
    const { durations, firstBytes } = metrics.totals();
    const [total = 0, first = 0] = [durations, firstBytes].map((counts) =>
      quantileOf(quantile, counts, REQUEST_SECONDS) ?? 0
    );
    assert(total >= first - 1e-9, `${total} ${first}`);
    assertEquals(sumOf(durations), requests.filter(({ status }) => status < 400).length);
  }));
});

function sumOf(counts: readonly number[]): number {
  return counts.reduce((sum, count) => sum + count, 0);
}

Deno.test("requests for unknown paths are counted apart, and are in no total, unless the gateway itself failed", () => {
  const metrics = new RequestMetrics({ now: () => 0 });
  for (let nth = 0; nth < 100; nth++) metrics.observe(recordOf({ endpoint: null, status: 404, code: "not_found" }));
  metrics.observe(recordOf({ endpoint: null })); // the base address
  metrics.observe(recordOf({ endpoint: null, status: 503, code: "overloaded" }));
  metrics.observe(recordOf({ provider: "p" }));
  const other = new RequestMetrics({ now: () => 0 });
  other.add(metrics.take());
  const { requests, errors, durations, firstBytes } = other.totals();
  const sum = (counts: readonly number[]) => counts.reduce((all, count) => all + count, 0);
  assertEquals([requests, errors, sum(durations), sum(firstBytes)], [2, { overloaded: 1 }, 1, 1]);
  const { samples } = other.families().find(({ name }) => name === "switchyard_requests_total")!;
  const counted = samples.map(({ labels, value }) => [labels.endpoint, labels.status, value]);
  assertEquals(counted.map(String).toSorted(), ["/v1/x,200,1", "none,200,1", "none,404,100", "other,503,1"]);
});
