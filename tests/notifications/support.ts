import { silentLog } from "../../src/platform/lib/basics/log.ts";
import { thresholdIn } from "../../src/services/notifications/notifications_section.ts";
import type { PassParts } from "../../src/services/notifications/run_pass.ts";
import type { StoreEngine } from "../../src/platform/store/engine.ts";
import { openDeliveryAdmin } from "../../src/services/webhooks/delivery_admin.ts";

/** Selects all deliveries. */
export const ALL = { state: null, from: 0, to: Number.MAX_SAFE_INTEGER } as const;
/** A page of all of them. */
export const PAGE = { after: null, limit: 100, reverse: false };

/** The parts of passes over a store, with the operator's address. */
export function partsOver(store: StoreEngine, thresholds: readonly string[] = ["5.00"]): PassParts {
  return {
    store,
    log: silentLog,
    config: () => ({
      url: "https://receiver.example/ops",
      secret: "operator-secret",
      balanceLow: thresholds.flatMap((text) => thresholdIn(text) ?? []),
    }),
    meter: { settleAll: () => Promise.resolve() },
    usageRollup: {
      foldAll: () => Promise.resolve(),
      spentSince: () => Promise.resolve({ charged: 0n, held: 0n }),
    },
    models: () => [],
  };
}

/** Who gets which event, sorted. */
export async function deliveriesOf(store: StoreEngine): Promise<string[]> {
  const { deliveries } = await openDeliveryAdmin(store).list(ALL, PAGE);
  return deliveries.map(({ account, status }) => `${account} ${status}`).toSorted();
}
