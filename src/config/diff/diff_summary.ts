import type { ConfigDiff, ValueChange } from "./config_diff.ts";

/** The most prices, and the most settings that need a restart, that a summary names. */
const MAX_NAMED = 20;

const PRICE = /(^|\.)(pricing|price_[a-z_]+)(\.|$)/;

/**
 * Summarizes a difference for the log: `1 added, 2 changed, 0 removed, 1 need a restart`, then the changed prices
 * before and after, and the settings that need a restart. It has no secret, and a bounded number of names.
 */
export function summaryOf({ added, changed, removed, restart }: ConfigDiff): string {
  const count = (part: ConfigDiff["added"]) => Object.values(part).reduce((sum, { length }) => sum + length, 0);
  const changes = Object.values(changed).reduce((sum, entries) => sum + Object.keys(entries).length, 0);
  const counts = `${count(added)} added, ${changes} changed, ${count(removed)} removed, ` +
    `${restart.length} need a restart`;
  const prices = pricesIn(changed.models ?? {});
  return [
    counts,
    ...prices.length === 0 ? [] : [`prices: ${namesOf(prices)}`],
    ...restart.length === 0 ? [] : [`restart for: ${namesOf(restart)}`],
  ].join("; ");
}

function pricesIn(models: ConfigDiff["changed"][string]): string[] {
  return Object.entries(models).flatMap(([model, fields]) =>
    Object.entries(fields).flatMap(([field, change]) =>
      PRICE.test(field) ? [`${model} ${field} ${changeText(change)}`] : []
    )
  );
}

function changeText(change: ValueChange): string {
  return change === "changed" ? change : `${priceText(change.before)} to ${priceText(change.after)}`;
}

function priceText(value: unknown): string {
  return value === null ? "none" : String(value);
}

function namesOf(names: readonly string[]): string {
  const more = names.length - MAX_NAMED;
  return names.slice(0, MAX_NAMED).join(", ") + (more > 0 ? `, ${more} more` : "");
}
