import { type ContenderResult, measure, p50Ms, p99Ms, type Reading } from "./contest.ts";
import type { Generators } from "./generator.ts";
import { SMALL_BODY_BYTES } from "./load_request.ts";
import { contendersFor, useOf, type Variant } from "./scale_variants.ts";

/** The result of all gateways of a variant under one load. */
export interface ScaleRun {
  readonly repliesPerSecond: number;
  /** Processor microseconds of the gateways for each reply; null without `/proc`. */
  readonly gatewayUs: number | null;
  /** Those of the database server; null without one. */
  readonly databaseUs: number | null;
  /** Of several gateways the longer time. */
  readonly p50Ms: number | null;
  /** Of several gateways the longer time. */
  readonly p99Ms: number | null;
  readonly failures: number;
}

/** The amount of load. */
export interface ScaleLoad {
  /** Of all gateways of a variant together. */
  readonly connections: number;
  readonly seconds: number;
}

/**
 * Measures a variant. Its gateways have equal parts of the connections at the same time.
 *
 * @param generators One pair for each gateway, since a generator sends to one address at a time.
 */
export async function measureVariant(
  variant: Variant,
  { connections, seconds }: ScaleLoad,
  generators: readonly Generators[],
): Promise<ScaleRun> {
  const contenders = contendersFor(variant);
  const share = Math.ceil(connections / contenders.length);
  const load = { mode: "json", bodyBytes: SMALL_BODY_BYTES, load: { kind: "closed" }, connections: share } as const;
  const before = await useOf(variant);
  const results = await Promise.all(
    contenders.map((contender, index) => {
      const own = generators[index];
      if (own === undefined) throw new RangeError("Cannot measure a variant: it has more gateways than generators");
      return measure(contender, load, { seconds, generators: own });
    }),
  );
  const after = await useOf(variant);
  const replies = sumOf(results, (result) => result.replies);
  const usPerReply = (from: number | null, to: number | null) =>
    from === null || to === null || replies === 0 ? null : (to - from) * 1_000 / replies;
  return {
    repliesPerSecond: sumOf(results, (result) => result.repliesPerSecond),
    gatewayUs: usPerReply(before.gatewayMs, after.gatewayMs),
    databaseUs: usPerReply(before.databaseMs, after.databaseMs),
    p50Ms: longest(results, p50Ms),
    p99Ms: longest(results, p99Ms),
    failures: sumOf(results, (result) => result.failures),
  };
}

function sumOf(results: readonly ContenderResult[], of: (result: ContenderResult) => number): number {
  return results.reduce((sum, result) => sum + of(result), 0);
}

function longest(results: readonly ContenderResult[], of: Reading): number | null {
  const times = results.flatMap((result) => of(result) ?? []);
  return times.length === 0 ? null : Math.max(...times);
}
