import { elementAt } from "../src/platform/lib/collections/element_at.ts";
import type { Contender } from "./contenders.ts";
import { type ContestOptions, measure } from "./contest.ts";
import { SMALL_BODY_BYTES } from "./load_request.ts";
import { medianOf } from "./statistics.ts";

/** How many paced streams a contender relays at once. */
export interface StreamLimit {
  /** The largest step that it sustained in each turn; zero when it did not sustain the first. */
  readonly turns: readonly number[];
  /** The largest gap with {@linkcode GAP_STREAMS}, in milliseconds; null if it was not measured. */
  readonly largestGapMs: number | null;
}

/** Streams at once. */
export const STEPS: readonly number[] = [100, 150, 200, 300, 400, 500, 700, 1000, 1400];

/** The only step of a quick run. */
export const QUICK_STEPS: readonly number[] = [400];

/** The number of streams whose largest gap is measured, also of a contender that does not sustain them. */
export const GAP_STREAMS = 1000;

/** Of a thousand gaps, fewer than this may be late. */
export const MAX_LATE_PER_MILLE = 1;

type StepOptions = Pick<ContestOptions, "seconds" | "generators">;

/**
 * The largest step that is sustained, by bisection: fewer than one gap in a thousand is late, and no request fails.
 *
 * @returns Zero when none is.
 */
export async function lastSustained(
  steps: readonly number[],
  isSustained: (streams: number) => Promise<boolean>,
): Promise<number> {
  let [sustained, failed] = [-1, steps.length];
  while (failed - sustained > 1) {
    const middle = (sustained + failed) >> 1;
    if (await isSustained(elementAt(steps, middle))) sustained = middle;
    else failed = middle;
  }
  return sustained === -1 ? 0 : elementAt(steps, sustained);
}

/** How many paced streams a contender sustains now. */
export function streamsSustained(
  contender: Contender,
  steps: readonly number[],
  options: StepOptions,
): Promise<number> {
  return lastSustained(steps, async (streams) => {
    const { failures, gaps } = await runStep(contender, streams, options);
    return failures === 0 && gaps.count > 0 && gaps.late * 1000 < MAX_LATE_PER_MILLE * gaps.count;
  });
}

/** The largest gap with {@linkcode GAP_STREAMS}; null if no gap was measured. */
export async function gapAtManyOf(contender: Contender, options: StepOptions): Promise<number | null> {
  const { gaps } = await runStep(contender, GAP_STREAMS, options);
  return gaps.ms?.max ?? null;
}

/** The median over the turns; null without one. */
export function streamsOf(limit: StreamLimit | undefined): number | null {
  return medianOf(limit?.turns ?? []);
}

/** The median of the ratios within each turn; null without one. */
export function streamsRatio(limit: StreamLimit | undefined, base: StreamLimit | undefined): number | null {
  const ratios = (limit?.turns ?? []).flatMap((streams, turn) => {
    const other = base?.turns[turn];
    return other === undefined || other === 0 ? [] : [streams / other];
  });
  return medianOf(ratios);
}

function runStep(contender: Contender, connections: number, options: StepOptions): ReturnType<typeof measure> {
  const load = { mode: "paced", bodyBytes: SMALL_BODY_BYTES, connections, load: { kind: "streams" } } as const;
  return measure(contender, load, options);
}
