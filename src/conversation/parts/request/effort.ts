import { type Effort, EFFORTS, type ReasoningRequest } from "../../neutral/conversation.ts";

/** The share of the reply's tokens that each effort may use for reasoning, for models that take a token budget. */
export const EFFORT_SHARES: Readonly<Record<Effort, number>> = {
  none: 0,
  minimal: 0.02,
  low: 0.1,
  medium: 0.3,
  high: 0.6,
  xhigh: 0.9,
  max: 0.95,
};

/** The largest share that still maps to an effort: half-way to the next. */
const MAX_SHARES: Readonly<Record<Effort, number>> = {
  none: 0,
  minimal: 0.06,
  low: 0.2,
  medium: 0.45,
  high: 0.75,
  xhigh: 0.925,
  max: Infinity,
};

/**
 * The effort nearest to a budget, given as its share of the whole reply: the inverse of {@linkcode EFFORT_SHARES}.
 *
 * @param known The efforts that the target supports, weakest first.
 */
export function effortForShare<Known extends Effort>(share: number, known: readonly [Known, ...Known[]]): Known {
  let nearest: Known = known[0];
  for (const effort of known) {
    nearest = effort;
    if (share <= MAX_SHARES[effort]) break;
  }
  return nearest;
}

/**
 * The effort of reasoning that was turned on and left to the model; null for any other request. Source: Anthropic,
 * "Adaptive thinking": the default effort is `high`.
 */
export function adaptiveEffort(reasoning: ReasoningRequest | null): Effort | null {
  const isOpen = reasoning?.isAdaptive === true && reasoning.effort === null && reasoning.budgetTokens === null;
  return isOpen ? "high" : null;
}

/** The efforts that every vendor with efforts supports. */
export const COMMON_EFFORTS = ["low", "medium", "high"] as const satisfies readonly Effort[];

/**
 * The supported effort nearest to the requested one; of two equally near, the stronger. Requested reasoning is not
 * turned off when the model supports any other effort. `max` is used only when it was requested.
 *
 * @param known The supported efforts; at least one.
 */
export function nearestEffort(requested: Effort, known: readonly Effort[]): Effort {
  const fitting = known.filter((effort) => effort === requested || (effort !== "none" && effort !== "max"));
  const usable = fitting.length > 0 ? fitting : known;
  const position = EFFORTS.indexOf(requested);
  const distance = (effort: Effort) => Math.abs(EFFORTS.indexOf(effort) - position);
  return usable.reduce((best, effort) => {
    const isNearer = distance(effort) < distance(best);
    const isAsNear = distance(effort) === distance(best) && EFFORTS.indexOf(effort) > EFFORTS.indexOf(best);
    return isNearer || isAsNear ? effort : best;
  });
}
