import type { StoreEngine } from "./engine.ts";

/** A larger difference is reported. Requests and vendors have their times by the clock of the machine. */
const MAX_DIFFERENCE_MS = 5_000;

/** What a report says of clocks that differ: `the clock of the database is 7.2 s ahead of …`; null if they agree. */
export function clockDifference(store: Pick<StoreEngine, "clockAheadMs">): string | null {
  const aheadMs = store.clockAheadMs?.() ?? 0;
  if (Math.abs(aheadMs) <= MAX_DIFFERENCE_MS) return null;
  const how = aheadMs > 0 ? "ahead of" : "behind";
  return `the clock of the database is ${(Math.abs(aheadMs) / 1000).toFixed(1)} s ${how} that of this machine`;
}
