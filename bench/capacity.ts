import { CHUNKS_PER_STREAM, PACE_MS } from "./ask.ts";
import type { Contender } from "./contenders.ts";
import { type Generators, measure } from "./contest.ts";

/** How many paced streams at once a contender bears. */
export interface Capacity {
  /** Zero when it does not bear the least that is tried. */
  readonly streams: number;
  /** 99 of 100 chunks of these streams came within this after the one before, in milliseconds; null with no streams. */
  readonly gapP99Ms: number | null;
  /** True when the most that is tried was borne. */
  readonly isOpenEnded: boolean;
}

const STEPS = [25, 50, 75, 100, 125, 150, 175, 200, 225, 250, 300, 350, 400];

/** What a stream takes from its first chunk to its last at the upstream. */
const NOMINAL_MS = (CHUNKS_PER_STREAM - 1) * PACE_MS;

/**
 * A contender bears a number of streams when half of them take no more than a twentieth longer than at the upstream.
 */
const BEARABLE_MS = NOMINAL_MS * 1.05;

/** A step that fails is tried this often, as the machine may have been busy with something else. */
const TRIES = 2;

/** Raises the number of paced streams step by step until the contender falls behind the upstream's pace. */
export async function capacityOf(contender: Contender, generators: Generators): Promise<Capacity> {
  let borne: Capacity = { streams: 0, gapP99Ms: null, isOpenEnded: false };
  for (const streams of STEPS) {
    const gapP99Ms = await gapWhenBorne(contender, streams, generators);
    if (gapP99Ms === null) return borne;
    borne = { streams, gapP99Ms, isOpenEnded: streams === STEPS.at(-1) };
  }
  return borne;
}

async function gapWhenBorne(contender: Contender, connections: number, generators: Generators): Promise<number | null> {
  for (let attempt = 0; attempt < TRIES; attempt++) {
    // A stream lasts about a second, so each connection carries two.
    const load = { mode: "paced", connections, looksInside: true } as const;
    const run = await measure(contender, load, { seconds: 1.5, generators });
    const isBorne = run.failures === 0 && run.wholeMs !== null && run.wholeMs.p50 <= BEARABLE_MS;
    if (isBorne && run.gapMs !== null) return run.gapMs.p99;
  }
  return null;
}
