import type { Model } from "../../vendors/catalog/model.ts";
import { expiringModels } from "../../vendors/catalog/expiring.ts";
import type { PricesConfig } from "../../vendors/prices/prices_section.ts";
import { enumerated, type Finding, ok, warning } from "./finding.ts";

/** What is known of a price source. */
export interface SourceState {
  /** The last time at which it could be read, in Unix milliseconds; null if it never could. */
  readonly readAt: number | null;
  /** Why the last reading failed; null if it did not. */
  readonly failure: string | null;
  /** The models with changes that wait for a person. */
  readonly pending: readonly string[];
}

/**
 * Checks that the price source could be read, and that no change of prices waits.
 *
 * @param state Null if it is unknown.
 * @param at Unix milliseconds.
 */
export function checkPriceSource(
  { source, isBuiltIn, keepMs }: PricesConfig,
  state: SourceState | null,
  at: number,
): Finding {
  if (isBuiltIn) return ok("price source", "prices are those that are built in");
  if (state === null) return ok("price source", "its state is known to a running gateway with an admin key only");
  const reason = state.failure === null ? "" : `: ${state.failure}`;
  if (state.readAt === null) {
    return warning("price source", `${source} was never read${reason}`, "check the address and its format");
  }
  const days = Math.floor((at - state.readAt) / 86_400_000);
  if (at - state.readAt > keepMs) {
    const text = `${source} could not be read for ${days} days${reason}; the last prices stay`;
    return warning("price source", text, "check the address, or set prices.source to another one");
  }
  if (state.pending.length > 0) {
    const advice = 'look at "switchyard prices diff", then run "switchyard prices apply"';
    return warning("price source", `changes of prices wait: ${enumerated(state.pending)}`, advice);
  }
  return ok("price source", `${source} was read ${days === 0 ? "within a day" : `${days} days ago`}${reason}`);
}

/**
 * Names the models that their vendors end within thirty days, or have ended.
 *
 * @param at Unix milliseconds.
 */
export function checkExpirations(models: readonly Model[], at: number): Finding {
  const expiring = expiringModels(models, at);
  if (expiring.length === 0) return ok("expirations", "no vendor ends a model within thirty days");
  const texts = expiring.map(({ id, date, leftMs }) => `${id} (${leftMs <= 0 ? "ended" : "ends"} on ${date})`);
  return warning("expirations", `vendors end models: ${enumerated(texts)}`, "move your callers to other models");
}
