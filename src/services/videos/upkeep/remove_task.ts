import { GatewayError } from "../../../platform/lib/basics/gateway_error.ts";
import type { Store } from "../../../platform/store/store.ts";
import { readTask, removeTask, type TaskEntry } from "../tasks/records.ts";
import { taskNotFound } from "../tasks/video_errors.ts";
import { removeCopies } from "../results/task_files.ts";
import type { VideoParts } from "../tasks/video_parts.ts";

/**
 * Result of removing a task. `pending`: its event is still being delivered. `changed`: the task changed since it was
 * read.
 */
export type RemovalResult = "removed" | "pending" | "changed";

/** What the removal of a task uses. `onRemoval` removes its webhook. */
export interface TaskRemovalParts extends Pick<VideoParts, "files" | "onRemoval"> {
  readonly store: Store;
}

/**
 * Maximum number of conflicting commits. An ended task changes when its copies are complete, and rarely after that.
 */
export const MAX_RACES = 8;

/**
 * Removes an ended task with all its data: copies of results, its delivery once that has ended, its hold and its index
 * entries. The record is removed last, so an interrupted removal is found and completed. Its ledger entries remain. Its
 * `Idempotency-Key` stays valid for the rest of its 24 hours, so a late repeat creates no second task.
 */
export async function removeEndedTask(
  parts: TaskRemovalParts,
  entry: TaskEntry,
): Promise<RemovalResult> {
  const { store, files, onRemoval } = parts;
  const { id, inputs } = entry.value;
  if (!await onRemoval(id)) return "pending";
  await removeCopies(files, entry.value);
  for (const name of inputs) await files.remove(name);
  return (await store.commit(null, removeTask({}, entry))).ok ? "removed" : "changed";
}

/**
 * Removes an ended task for its caller.
 *
 * @throws {GatewayError} `not_found`; `invalid_request` while it is pending; `conflict` while its event is being
 * delivered.
 */
export async function purgeVideo(parts: VideoParts, keyId: string, id: string): Promise<void> {
  for (let race = 0; race < MAX_RACES; race++) {
    const entry = await readTask(parts.store, id);
    if (entry?.value.keyId !== keyId) throw taskNotFound();
    if (entry.value.status === "pending") {
      throw new GatewayError("invalid_request", "Cannot remove the task: it is pending; cancel it first", {
        field: "purge",
      });
    }
    const removal = await removeEndedTask(parts, entry);
    if (removal === "removed") {
      return parts.log.info("video_purged", { ref: id, accountId: entry.value.account, keyId });
    }
    if (removal === "pending") {
      throw new GatewayError("conflict", "Cannot remove the task yet: its event is still being delivered");
    }
  }
  throw new GatewayError("internal_error", "Cannot remove the task: too many concurrent changes");
}
