import type { PriceChange } from "../../vendors/prices/price_changes.ts";
import type { PricesChanged } from "../../vendors/prices/price_feed.ts";
import type { Commit } from "../../platform/store/store.ts";
import { causeKey } from "./causes.ts";
import { announce, announcementOf, type AnnounceParts, type Notification } from "./announce.ts";

/** How long the cause of an event is stored. Revisions of the price list only grow. */
const CAUSE_MS = 30 * 86_400_000;
/** The most changes that an event lists. The audit log has all of them. */
const MAX_LISTED = 100;

/**
 * Sends `price.changed` of a change that is stored already: once for its cause. The price source logs it itself.
 */
export async function announcePriceChange(parts: AnnounceParts, changed: PricesChanged): Promise<void> {
  await announce(parts, notificationOf(changed));
}

/**
 * What sends `price.changed` within the commit of the change. Its cause is a revision of the price list with changes in
 * use or changes that wait, or a time since which the source could not be read for longer than `keep`.
 */
export async function priceAnnouncement(
  parts: Pick<AnnounceParts, "store" | "config">,
  changed: PricesChanged,
): Promise<Commit | null> {
  const notification = notificationOf(changed);
  // A cause that is stored would refuse the change of the prices, too.
  const [known] = await parts.store.get([causeKey(notification.event, notification.cause)]);
  return known === null ? await announcementOf(parts, notification) : null;
}

function notificationOf({ revision, applied, pending, staleSince }: PricesChanged): Notification {
  return {
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
  };
}

function listed({ model, before, after }: PriceChange) {
  return { model, before, after };
}
