import type { Contender } from "./contenders.ts";
import { type ContestOptions, measure } from "./contest.ts";
import { SMALL_BODY_BYTES } from "./load_request.ts";

/** How many paced streams a contender relays at once. */
export interface StreamLimit {
  /** The last step that it sustained; zero when it did not sustain the first. */
  readonly streams: number;
  /** Whether it sustained the last step there is. */
  readonly isOpenEnded: boolean;
  /** The largest gap at the last step there is, in milliseconds; null if no gap was measured there. */
  readonly largestGapMs: number | null;
}

/** Streams at once. */
export const STEPS: readonly number[] = [100, 150, 200, 300, 400, 500, 700, 1000];

/** The only step of a quick run. */
export const QUICK_STEPS: readonly number[] = [400];

/** Of a thousand gaps, fewer than this may be late. */
export const MAX_LATE_PER_MILLE = 1;

/** The number of tries of a step, as the machine may have been busy. */
const MAX_TRIES = 2;

interface Step {
  readonly isSustained: boolean;
  readonly largestGapMs: number | null;
}

/**
 * Raises the number of paced streams step by step until one gap in a thousand is late or a request fails. The last step
 * is measured in any case.
 */
export async function streamLimitOf(
  contender: Contender,
  steps: readonly number[],
  options: Pick<ContestOptions, "seconds" | "generators">,
): Promise<StreamLimit> {
  let streams = 0;
  for (const step of steps) {
    const measured = await tryStep(contender, step, options);
    const isLast = step === steps.at(-1);
    if (measured.isSustained) streams = step;
    if (isLast) return { streams, isOpenEnded: measured.isSustained, largestGapMs: measured.largestGapMs };
    if (!measured.isSustained) break;
  }
  const last = await runStep(contender, steps.at(-1) ?? 0, options);
  return { streams, isOpenEnded: false, largestGapMs: last.largestGapMs };
}

async function tryStep(contender: Contender, streams: number, options: Parameters<typeof runStep>[2]): Promise<Step> {
  let step: Step = { isSustained: false, largestGapMs: null };
  for (let attempt = 0; attempt < MAX_TRIES && !step.isSustained; attempt++) {
    step = await runStep(contender, streams, options);
  }
  return step;
}

async function runStep(
  contender: Contender,
  connections: number,
  options: Pick<ContestOptions, "seconds" | "generators">,
): Promise<Step> {
  const load = { mode: "paced", bodyBytes: SMALL_BODY_BYTES, connections, load: { kind: "streams" } } as const;
  const { failures, gaps } = await measure(contender, load, options);
  const isSustained = failures === 0 && gaps.count > 0 && gaps.late * 1000 < MAX_LATE_PER_MILLE * gaps.count;
  return { isSustained, largestGapMs: gaps.ms?.max ?? null };
}
