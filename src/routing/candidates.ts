import { weightedOrder } from "./weights.ts";

/** One provider that can serve a model. */
export interface Candidate {
  /** The provider's configured name. */
  readonly provider: string;
  /** The vendor's name of the model there. */
  readonly model: string;
  /** Share of the traffic relative to its siblings; 0: only when the others fail. */
  readonly weight: number;
}

/**
 * The providers to try for one request, in order: the pinned one alone, or all in a weighted random order, those that
 * rest behind those that do not. Source: SPEC "Provider routing", DESIGN section 4, "Routing".
 *
 * @param serving Whoever serves the model; never empty.
 * @param pin The name of one of them, null for none.
 * @param isResting Whether a provider's circuit is open.
 * @param random Uniform in [0, 1).
 */
export function candidatesFor(
  serving: readonly Candidate[],
  pin: string | null,
  isResting: (provider: string) => boolean,
  random: () => number = Math.random,
): readonly Candidate[] {
  if (pin !== null) return serving.filter(({ provider }) => provider === pin);
  if (serving.length === 1) return serving;
  const ordered = weightedOrder(serving, ({ weight }) => weight, random);
  const awake = ordered.filter(({ provider }) => !isResting(provider));
  // When all rest, trying is better than refusing for certain.
  return awake.length === 0 ? ordered : [...awake, ...ordered.filter(({ provider }) => isResting(provider))];
}
