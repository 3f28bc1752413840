import type { Server } from "./child.ts";
import { type ContenderResult, measure, p50Ms, p99Ms, type Reading } from "./contest.ts";
import type { Generators } from "./generator.ts";
import { SMALL_BODY_BYTES } from "./load_request.ts";
import { endedChildrenMs, processState } from "./process_state.ts";
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
  /** The generator's share of the processor time of all cores; null without `/proc`. */
  readonly generatorShare: number | null;
  /** The upstream's. */
  readonly vendorShare: number | null;
}

/** A load that variants are put under in turn. */
export interface ScaleLoad {
  /** The name in the report. */
  readonly title: string;
  readonly bodyBytes: number;
  /** Of all gateways of a variant together. */
  readonly connections: number;
  /** Requests per second at a constant rate; null for a closed loop. */
  readonly perSecond: number | null;
}

const CLOSED = { bodyBytes: SMALL_BODY_BYTES, perSecond: null } as const;

/** The load of every variant: closed loops of small JSON. */
export const SMALL_LOADS: readonly ScaleLoad[] = [
  { ...CLOSED, title: "32 connections", connections: 32 },
  { ...CLOSED, title: "128 connections", connections: 128 },
];

/** Large bodies at a constant rate, which leaves every core idle time. */
export const RATE_LOADS: readonly ScaleLoad[] = [
  { title: "100 KB, 800/s", bodyBytes: 100_000, connections: 16, perSecond: 800 },
  { title: "1 MB, 120/s", bodyBytes: 1_000_000, connections: 8, perSecond: 120 },
];

/** Large bodies as fast as they are answered. */
export const BODY_LOADS: readonly ScaleLoad[] = [
  { ...CLOSED, title: "100 KB, 16 connections", bodyBytes: 100_000, connections: 16 },
  { ...CLOSED, title: "1 MB, 8 connections", bodyBytes: 1_000_000, connections: 8 },
];

/** With what, and for how long, a variant is measured. */
export interface ScaleOptions {
  readonly seconds: number;
  /** One pair for each gateway, since a generator sends to one address at a time. */
  readonly generators: readonly Generators[];
  readonly upstream: Server;
}

/** Measures a variant. Its gateways have equal parts of the load at the same time. */
export async function measureVariant(
  variant: Variant,
  { bodyBytes, connections, perSecond }: Omit<ScaleLoad, "title">,
  { seconds, generators, upstream }: ScaleOptions,
): Promise<ScaleRun> {
  const contenders = contendersFor(variant);
  const count = contenders.length;
  const load = perSecond === null
    ? { kind: "closed" } as const
    : { kind: "rate", perSecond: perSecond / count } as const;
  const each = { mode: "json", bodyBytes, load, connections: Math.ceil(connections / count) } as const;
  const before = await allUse(variant, upstream);
  const results = await Promise.all(
    contenders.map((contender, index) => {
      const own = generators[index];
      if (own === undefined) throw new RangeError("Cannot measure a variant: it has more gateways than generators");
      return measure(contender, each, { seconds, generators: own });
    }),
  );
  const after = await allUse(variant, upstream);
  const replies = sumOf(results, (result) => result.replies);
  const usPerReply = (from: number | null, to: number | null) =>
    from === null || to === null || replies === 0 ? null : (to - from) * 1_000 / replies;
  const allMs = (after.atMs - before.atMs) * navigator.hardwareConcurrency;
  const shareOf = (from: number | null, to: number | null) => from === null || to === null ? null : (to - from) / allMs;
  return {
    repliesPerSecond: sumOf(results, (result) => result.repliesPerSecond),
    gatewayUs: usPerReply(before.gatewayMs, after.gatewayMs),
    databaseUs: usPerReply(before.databaseMs, after.databaseMs),
    p50Ms: longest(results, p50Ms),
    p99Ms: longest(results, p99Ms),
    failures: sumOf(results, (result) => result.failures),
    generatorShare: shareOf(before.generatorMs, after.generatorMs),
    vendorShare: shareOf(before.vendorMs, after.vendorMs),
  };
}

/** The processor time so far of a variant, of the generators, which are children that end with each run, and so on. */
async function allUse(variant: Variant, upstream: Server) {
  const [use, generatorMs, vendor] = await Promise.all([
    useOf(variant),
    endedChildrenMs(Deno.pid),
    processState(upstream.pid),
  ]);
  return { ...use, generatorMs, vendorMs: vendor?.cpuMs ?? null, atMs: performance.now() };
}

function sumOf(results: readonly ContenderResult[], of: (result: ContenderResult) => number): number {
  return results.reduce((sum, result) => sum + of(result), 0);
}

function longest(results: readonly ContenderResult[], of: Reading): number | null {
  const times = results.flatMap((result) => of(result) ?? []);
  return times.length === 0 ? null : Math.max(...times);
}
