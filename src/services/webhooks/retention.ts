import { forEachConcurrent } from "../../platform/lib/collections/for_each_concurrent.ts";
import type { Store } from "../../platform/store/store.ts";
import type { DeliveryState } from "./delivery.ts";
import { type DeliveryIndexEntry, readDelivery, removeEndedDelivery, scanDeliveries } from "./records.ts";

/** Number of deliveries that one step examines. */
const BATCH = 100;
/** Number of concurrent removals, which leaves capacity for requests. */
const AT_ONCE = 8;

const ENDED = ["delivered", "exhausted"] as const satisfies readonly DeliveryState[];

/**
 * Returns a step that removes ended deliveries with their attempts after the retention period, in order of their
 * events.
 *
 * @param deliveriesMs Retention from the end of the delivery; null means forever.
 * @returns The step, which resolves to whether there may be more to remove.
 */
export function deliverySweep(store: Store, deliveriesMs: number | null): () => Promise<boolean> {
  const cursors = new Map<DeliveryState, DeliveryIndexEntry>();
  return async () => {
    if (deliveriesMs === null) return false;
    const settledBefore = store.now() - deliveriesMs;
    let hasMore = false;
    for (const state of ENDED) {
      const range = { state, from: 0, to: settledBefore }; // a delivery ends after its event
      const page = { after: cursors.get(state) ?? null, limit: BATCH, reverse: false };
      const deliveries = await scanDeliveries(store, range, page);
      await forEachConcurrent(
        deliveries,
        AT_ONCE,
        async ({ id }) => void await removeEndedDelivery(store, id, settledBefore),
      );
      const last = deliveries[BATCH - 1];
      if (last === undefined) cursors.delete(state);
      else cursors.set(state, { createdAt: last.createdAt, id: last.id });
      hasMore ||= last !== undefined;
    }
    return hasMore;
  };
}

/** Removes the delivery of a task, if it has one; false if it is pending. */
export async function removeDeliveryOf(store: Store, taskId: string): Promise<boolean> {
  return await removeEndedDelivery(store, taskId) || await readDelivery(store, taskId) === null;
}
