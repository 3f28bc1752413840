import { GatewayError } from "../../lib/gateway_error.ts";
import { readTask, removeTask, type TaskEntry } from "./records.ts";
import { taskNotFound } from "./refusal.ts";
import { removeCopies } from "../results/task_files.ts";
import type { VideoParts } from "../video_parts.ts";

/**
 * What came of removing a task. `owed`: its event is still being delivered. `changed`: it is not as it was read any
 * more.
 */
export type Removal = "removed" | "owed" | "changed";

/** A task that has ended changes when its copies are there, and hardly again. */
const MAX_RACES = 8;

/**
 * Removes a finished task with everything that is kept of it: the copies of its results, what its end owed once that
 * was done, its hold and its places in lists. The record goes last, so that a removal that was interrupted is found and
 * finished. Its ledger lines stay, and so does its `Idempotency-Key` for the rest of its day, so that a late repeat of
 * the create makes no other task.
 */
export async function removeEndedTask(parts: VideoParts, entry: TaskEntry): Promise<Removal> {
  const { store, files, onRemoval } = parts;
  const { id, inputs } = entry.value;
  if (!await onRemoval(id)) return "owed";
  await removeCopies(files, entry.value);
  for (const name of inputs) await files.remove(name);
  return (await store.commit(null, removeTask({}, entry))).ok ? "removed" : "changed";
}

/**
 * Removes a finished task for its caller.
 *
 * @throws {GatewayError} `not_found`; `invalid_request` while it is pending; `conflict` while its event is being
 * delivered.
 */
export async function purgeVideo(parts: VideoParts, keyId: string, id: string): Promise<void> {
  for (let race = 0; race < MAX_RACES; race++) {
    const entry = await readTask(parts.store, id);
    if (entry?.value.keyId !== keyId) throw taskNotFound();
    if (entry.value.status === "pending") {
      throw new GatewayError("invalid_request", "Cannot remove the task: it is pending. Cancel it first", {
        field: "purge",
      });
    }
    const removal = await removeEndedTask(parts, entry);
    if (removal === "removed") {
      return parts.log.info("video_purged", { ref: id, accountId: entry.value.account, keyId });
    }
    if (removal === "owed") {
      throw new GatewayError("conflict", "Cannot remove the task yet: its event is still being delivered");
    }
  }
  throw new GatewayError("internal_error", "Cannot remove the task: too many concurrent changes");
}
