import { type Effort, EFFORTS } from "./conversation.ts";

/**
 * The share of a whole reply that each effort may think with, for models that are told a budget of tokens.
 * Source: the effort map of the neutral form.
 */
export const EFFORT_SHARES: Readonly<Record<Effort, number>> = {
  none: 0,
  minimal: 0.02,
  low: 0.1,
  medium: 0.3,
  high: 0.6,
  xhigh: 0.9,
  max: 0.95,
};

/** The largest share that is still nearest to an effort: half-way to the next. */
const MOST_SHARE: Readonly<Record<Effort, number>> = {
  none: 0,
  minimal: 0.06,
  low: 0.2,
  medium: 0.45,
  high: 0.75,
  xhigh: 0.925,
  max: Infinity,
};

/**
 * The effort nearest to a budget, told as its share of the whole reply: the inverse of {@linkcode EFFORT_SHARES}.
 *
 * @param known The efforts that the target has a word for, weakest first.
 */
export function effortForShare<Known extends Effort>(share: number, known: readonly [Known, ...Known[]]): Known {
  let nearest: Known = known[0];
  for (const effort of known) {
    nearest = effort;
    if (share <= MOST_SHARE[effort]) break;
  }
  return nearest;
}

/** The efforts that every vendor with efforts knows. */
export const THREE_EFFORTS = ["low", "medium", "high"] as const satisfies readonly Effort[];

/**
 * The effort of those that a model takes that is nearest to the one wanted; of two that are as near, the stronger.
 * Reasoning that was asked for is not switched off where the model can do else, however little was asked for, and `max`
 * is used only when it was asked for.
 *
 * @param known At least one.
 */
export function nearestEffort(wanted: Effort, known: readonly Effort[]): Effort {
  const fitting = known.filter((effort) => effort === wanted || (effort !== "none" && effort !== "max"));
  const usable = fitting.length > 0 ? fitting : known;
  const place = EFFORTS.indexOf(wanted);
  const distance = (effort: Effort) => Math.abs(EFFORTS.indexOf(effort) - place);
  return usable.reduce((best, effort) => {
    const isNearer = distance(effort) < distance(best);
    const isAsNear = distance(effort) === distance(best) && EFFORTS.indexOf(effort) > EFFORTS.indexOf(best);
    return isNearer || isAsNear ? effort : best;
  });
}
