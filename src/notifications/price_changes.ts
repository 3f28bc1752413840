import type { PriceChange } from "../prices/price_changes.ts";
import type { PricesChanged } from "../prices/price_feed.ts";
import { announce, type AnnounceParts } from "./announce.ts";

/** How long the cause of an event is stored. Revisions of the price list only grow. */
const CAUSE_MS = 30 * 86_400_000;
/** The most changes that an event lists. The audit log has all of them. */
const MAX_LISTED = 100;

/**
 * Sends `price.changed`: once for each revision of the price list that has changes in use or changes that wait, and
 * once for each time that the source could not be read for longer than `keep`. The price source logs it itself.
 */
export async function announcePriceChange(parts: AnnounceParts, changed: PricesChanged): Promise<void> {
  const { revision, applied, pending, staleSince } = changed;
  await announce(parts, {
    event: "price.changed",
    cause: revision === null ? ["stale", String(staleSince)] : ["revision", String(revision)],
    causeTtlMs: CAUSE_MS,
    account: null,
    data: {
      applied: applied.slice(0, MAX_LISTED).map(listed),
      applied_count: applied.length,
      pending: pending.slice(0, MAX_LISTED).map((change) => ({ ...listed(change), reason: change.reason })),
      pending_count: pending.length,
      stale_since: staleSince === null ? null : Math.floor(staleSince / 1_000),
    },
    logged: null,
  });
}

function listed({ model, before, after }: PriceChange) {
  return { model, before, after };
}
