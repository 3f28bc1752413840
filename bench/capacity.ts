import { CHUNKS_PER_STREAM, PACE_MS } from "./load_request.ts";
import type { Contender } from "./contenders.ts";
import { type Generators, measure } from "./contest.ts";

/** The maximum number of concurrent paced streams of a contender. */
export interface Capacity {
  /** Zero when it cannot keep the pace of the minimum that is tried. */
  readonly streams: number;
  /** The 99th percentile of the time between two chunks, in milliseconds; null without streams. */
  readonly gapP99Ms: number | null;
  /** True when the contender kept the pace of the maximum that is tried. */
  readonly isOpenEnded: boolean;
}

const STEPS = [25, 50, 75, 100, 125, 150, 175, 200, 225, 250, 300, 350, 400];

/** The duration of a stream at the upstream, from its first chunk to its last. */
const EXPECTED_MS = (CHUNKS_PER_STREAM - 1) * PACE_MS;

/** A contender keeps the pace when half of the streams take at most a twentieth longer than at the upstream. */
const MAX_STREAM_MS = EXPECTED_MS * 1.05;

/** The number of tries of a step, as the machine may have been busy. */
const MAX_TRIES = 2;

/** Raises the number of paced streams step by step until the contender falls behind the upstream's pace. */
export async function capacityOf(contender: Contender, generators: Generators): Promise<Capacity> {
  let capacity: Capacity = { streams: 0, gapP99Ms: null, isOpenEnded: false };
  for (const streams of STEPS) {
    const gapP99Ms = await gapWhenBorne(contender, streams, generators);
    if (gapP99Ms === null) return capacity;
    capacity = { streams, gapP99Ms, isOpenEnded: streams === STEPS.at(-1) };
  }
  return capacity;
}

async function gapWhenBorne(contender: Contender, connections: number, generators: Generators): Promise<number | null> {
  for (let attempt = 0; attempt < MAX_TRIES; attempt++) {
    // A stream lasts about a second, so each connection has two of them.
    const load = { mode: "paced", connections, looksInside: true } as const;
    const run = await measure(contender, load, { seconds: 1.5, generators });
    const isBorne = run.failures === 0 && run.wholeMs !== null && run.wholeMs.p50 <= MAX_STREAM_MS;
    if (isBorne && run.gapMs !== null) return run.gapMs.p99;
  }
  return null;
}
