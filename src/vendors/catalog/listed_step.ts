import type { Model } from "./model.ts";

/** The models that are not in the configuration, or have other prices than there, from a moment on. */
export interface ListedStep {
  /** Unix milliseconds, for requests that began then or later. */
  readonly from: number;
  /** Models that providers list. */
  readonly discovered: readonly Model[];
  /** Built-in models with the prices of a price source. They replace those with their ids. */
  readonly repriced: readonly Model[];
}

/** Neither discovered models nor other prices. */
export const NOTHING_LISTED: ListedStep = { from: -Infinity, discovered: [], repriced: [] };

/** The steps before anything was listed. */
export const NO_LISTED: readonly ListedStep[] = [NOTHING_LISTED];

/** The most steps that are kept. Requests that are under way have their prices already. */
export const MAX_STEPS = 4;

/** The steps with other discovered models in the last one. */
export function withDiscovered(steps: readonly ListedStep[], discovered: readonly Model[]): readonly ListedStep[] {
  const last = steps.at(-1) ?? NOTHING_LISTED;
  return [...steps.slice(0, -1), { ...last, discovered }];
}

/** The steps with one that begins later than they do; it replaces those that have not begun by then. */
export function withStep(steps: readonly ListedStep[], step: ListedStep): readonly ListedStep[] {
  return [...steps.filter(({ from }) => from < step.from), step].slice(-MAX_STEPS);
}
