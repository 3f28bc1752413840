import { assertEquals, assertRejects } from "@std/assert";
import { GatewayError } from "../../../src/platform/lib/basics/gateway_error.ts";
import { groupTraffic } from "../../../src/protocols/admin/shared/traffic_groups.ts";
import type { LoggedRequest, RequestQuery } from "../../../src/observers/request_log/request_log.ts";

const NOW = 10_000_000;
const RETENTION_MS = 5_000_000;

function request(position: number, model: string | null): LoggedRequest {
  const facts = { servedModel: model, model, provider: null, accountId: "demo", keyId: null, tokens: null, cost: null };
  const times = { receivedAt: position, durationMs: 1, firstByteMs: null };
  return { ...facts, ...times, position, endpoint: "/v1/models", code: null, status: 200 } as unknown as LoggedRequest;
}

/** A log of `count` requests, whose models are numbered up to `models`. */
function logOf(count: number, models: number) {
  const queries: RequestQuery[] = [];
  const list = (query: RequestQuery) => {
    queries.push(query);
    const last = query.after ?? NOW;
    const page = Array.from({ length: query.limit }, (_, index) => last - 1 - index)
      .filter((position) => position >= NOW - count)
      .map((position) => request(position, `m${position % models}`));
    return Promise.resolve({ requests: page, next: page.length === query.limit ? page.at(-1)!.position : null });
  };
  return { queries, requests: { list } };
}

const group = (log: ReturnType<typeof logOf>, from: number, to = NOW) =>
  groupTraffic({ ...log, retentionMs: RETENTION_MS }, { by: "model", range: { from, to }, now: NOW });

Deno.test("groupTraffic() reads every page of a range, and leaves out the smallest of many groups", async () => {
  const log = logOf(1_250, 120);
  const { from, groups, omitted } = await group(log, NOW - 2_000);
  assertEquals([from, groups.length, omitted], [NOW - 2_000, 100, 20]);
  assertEquals(new Set(log.queries.map(({ from }) => from)), new Set([NOW - 2_000]));
  assertEquals(groups[0]?.traffic.requests, 11);
});

Deno.test("groupTraffic() says from when on it counts, if a range has too many requests or is older than the log", async () => {
  const { from, groups } = await group(logOf(80_000, 1), NOW - 100_000);
  assertEquals([from, groups[0]?.traffic.requests], [NOW - 50_000 + 1, 50_000]);
  assertEquals((await group(logOf(0, 1), 0)).from, NOW - RETENTION_MS);
  const refused = await assertRejects(() => group(logOf(0, 1), 0, 1_000), GatewayError);
  assertEquals(refused.details.field, "group_by");
});
