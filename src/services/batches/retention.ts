import type { FileStore } from "../../platform/files/files.ts";
import { forEachConcurrent } from "../../platform/lib/collections/for_each_concurrent.ts";
import type { Log } from "../../platform/lib/basics/log.ts";
import type { JobHandler } from "../../platform/store/job_runner.ts";
import type { Store } from "../../platform/store/store.ts";
import { deleteHold } from "../../money/billing/hold.ts";
import { mergeCommits } from "../../money/billing/accounts/records.ts";
import { isEnded, linesNameOf, replyNameOf } from "./records/batch.ts";
import { deliveryIdsOf } from "./events.ts";
import { vendorContentNameOf } from "./records/vendor_batch.ts";
import {
  batchIdsOfAccount,
  endedBatchIds,
  lineTasksOf,
  readBatch,
  removeBatch,
  removeLineTask,
  removeReplies,
  removeVendorBatch,
  vendorBatchesOf,
} from "./records/records.ts";

const BATCH = 100;
/** Number of concurrent removals, which leaves capacity for requests. */
const AT_ONCE = 8;

/** The parts that removals use. */
export interface BatchRemovalParts {
  readonly store: Store;
  readonly files: FileStore;
  /** Removes a delivery; false if it is pending. */
  readonly onRemoval: (deliveryId: string) => Promise<boolean>;
}

/** Creates the handler of jobs that remove what only the run of an ended batch needed: its lines and replies. */
export function cleanHandler({ store, files }: Pick<BatchRemovalParts, "store" | "files">): JobHandler {
  return async (job) => {
    await removeRun({ store, files }, job.ref);
    return await store.commit(null, { completeJobs: [job] });
  };
}

async function removeRun({ store, files }: Pick<BatchRemovalParts, "store" | "files">, id: string): Promise<void> {
  // Ends when nothing is left: each step removes.
  for (;;) {
    const removed = await removeReplies(store, id);
    if (removed.length === 0) break;
    for (const { number, body } of removed) if (body === null) await files.remove(replyNameOf(id, number));
  }
  for (const { number } of await lineTasksOf(store, id)) await store.commit(null, removeLineTask(id, number));
  for (const { number } of await vendorBatchesOf(store, id)) {
    await files.remove(vendorContentNameOf(id, number));
    await store.commit(null, removeVendorBatch(id, number));
  }
  await files.remove(linesNameOf(id));
}

/**
 * Returns a step that removes ended batches after their retention. Their files have their own lifetime.
 *
 * @param tasksMs Retention from the end of a batch; null means forever.
 * @returns The step, which resolves to whether there may be more to remove.
 */
export function batchSweep(parts: BatchRemovalParts & { readonly log: Log }, tasksMs: number | null) {
  const { store, log } = parts;
  return async (): Promise<boolean> => {
    if (tasksMs === null) return false;
    const ids = await endedBatchIds(store, store.now() - tasksMs, BATCH);
    let removed = 0;
    await forEachConcurrent(ids, AT_ONCE, async (id) => {
      if (!await removeEnded(parts, id)) return;
      removed++;
      log.info("batch_removed", { ref: id });
    });
    // Those with a pending delivery stay at the front.
    return removed === BATCH;
  };
}

/** Removes all ended batches of an account. Returns their number. A repeat continues. */
export async function eraseBatches(parts: BatchRemovalParts, account: string): Promise<number> {
  let removed = 0;
  // Ends when a step removes nothing.
  for (;;) {
    const before = removed;
    const ids = await batchIdsOfAccount(parts.store, account, BATCH);
    await forEachConcurrent(ids, AT_ONCE, async (id) => {
      if (await removeEnded(parts, id)) removed++;
    });
    if (removed === before) return removed;
  }
}

async function removeEnded({ store, files, onRemoval }: BatchRemovalParts, id: string): Promise<boolean> {
  const entry = await readBatch(store, id);
  if (entry === null || !isEnded(entry.value)) return false;
  for (const delivery of deliveryIdsOf(id)) if (!await onRemoval(delivery)) return false;
  await removeRun({ store, files }, id);
  return (await store.commit(null, mergeCommits(removeBatch(entry), deleteHold({}, id)))).ok;
}
