import { AuditLog } from "../../../observers/audit/audit_log.ts";
import { storeAddressOf } from "../../../config/tree/store_address.ts";
import { builtInFamilyOf } from "../../../config/environment.ts";
import { PriceFeed, type PriceFeedOptions, type PricesChanged } from "../../../vendors/prices/price_feed.ts";
import { PriceSchedule } from "../../../vendors/prices/price_schedule.ts";
import { createPriceWork } from "../../../vendors/prices/price_work.ts";
import { holdWork } from "../../../platform/lib/basics/held.ts";
import type { Log } from "../../../platform/lib/basics/log.ts";
import type { AnnounceParts } from "../../../services/notifications/announce.ts";
import type { ConfiguredParts } from "../opening/configured_parts.ts";
import type { OwnedServices } from "../opening/own.ts";
import { Late } from "../../../platform/lib/process/late.ts";

const priceChangesModule = new Late(() => import("../../../services/notifications/price_changes.ts"));

/** The price source of a gateway. */
export interface PriceSource {
  readonly feed: PriceFeed;
  readonly schedule: PriceSchedule;
}

/**
 * The time from a change of prices until it takes effect: threads get it by a message, other gateways look for changes
 * every two seconds.
 */
const THREADS_LEAD_MS = 2_000;
const GATEWAYS_LEAD_MS = 10_000;

/**
 * Creates the price source of the configuration. Nothing is read yet.
 *
 * @param current Gives the parts of the current configuration.
 */
export function createPriceSource(
  { store, clock, log, random, config: { prices, retention, store: address } }: OwnedServices,
  current: () => ConfiguredParts,
  onPrices: PriceFeedOptions["onPrices"],
): PriceSource {
  const feed = new PriceFeed({
    settings: prices,
    store,
    audit: new AuditLog(store, retention.auditMs),
    log,
    work: createPriceWork({ clock, log }),
    leadMs: storeAddressOf(address).engine === "postgres" ? GATEWAYS_LEAD_MS : THREADS_LEAD_MS,
    egress: () => current().egress,
    families: () => familiesOf(current()),
    onPrices,
    // Its code is loaded for the first change.
    announcement: async (event) => {
      const { priceAnnouncement } = await priceChangesModule.load();
      return await priceAnnouncement({ store, config: () => current().config.notifications }, event);
    },
    onChanged(event) {
      logChange(event, log);
      // A change of the list is announced by its own commit.
      if (event.revision !== null) return;
      holdWork(announceChange({ store, log, config: () => current().config.notifications }, event));
    },
  });
  return { feed, schedule: new PriceSchedule({ feed, clock, log, random }) };
}

async function announceChange(parts: AnnounceParts, event: PricesChanged): Promise<void> {
  const { announcePriceChange } = await priceChangesModule.load();
  await announcePriceChange(parts, event);
}

function familiesOf({ config: { providers } }: ConfiguredParts): readonly string[] {
  const families = Object.entries(providers).map(([name, settings]) => builtInFamilyOf(name, settings));
  return [...new Set(families.filter((family) => family !== null))];
}

const MAX_LOGGED = 10;

function logChange({ applied, pending, staleSince }: PricesChanged, log: Log): void {
  const namesOf = (changes: readonly { readonly model: string }[]) =>
    changes.slice(0, MAX_LOGGED).map(({ model }) => model).join(", ");
  if (applied.length > 0) log.info("prices_changed", { count: applied.length, reason: namesOf(applied) });
  if (pending.length > 0) {
    const reason = `${namesOf(pending)}: see "switchyard prices diff"`;
    log.warn("prices_pending", { count: pending.length, reason });
  }
  if (staleSince !== null) {
    const reason = `the price source could not be read since ${
      new Date(staleSince).toISOString()
    }; the last prices stay`;
    log.warn("prices_stale", { reason });
  }
}
