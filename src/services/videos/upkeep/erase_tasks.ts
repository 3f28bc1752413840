import { TERMINAL_STATUSES } from "../../webhooks/ended_task.ts";
import { forEachConcurrent } from "../../../platform/lib/collections/for_each_concurrent.ts";
import { GatewayError } from "../../../platform/lib/basics/gateway_error.ts";
import type { Store } from "../../../platform/store/store.ts";
import { readTask, removeIdempotencyKeys, scanTaskIndex, type TaskIndexEntry } from "../tasks/records.ts";
import { removeEndedTask, type TaskRemovalParts } from "./remove_task.ts";
import type { VideoStatus, VideoTask } from "../tasks/task.ts";

/** The number of records that one read lists. */
const PAGE = 100;
/** Number of concurrent removals, which leaves capacity for requests. */
const AT_ONCE = 8;
/** A task changes when its copies are complete, and rarely after that. */
const MAX_RACES = 8;
const START: TaskIndexEntry = { createdAt: 0, id: "" };

/** What {@linkcode eraseTasks} removed. */
export interface ErasedTasks {
  readonly tasks: number;
  /** Copies of results, and media of requests. */
  readonly files: number;
}

/** The number of an account's tasks that are not terminal. */
export async function countPendingTasks(store: Store, account: string): Promise<number> {
  let count = 0;
  for await (const page of pagesOf(store, account, "pending")) count += page.length;
  return count;
}

/**
 * Removes all ended tasks of an account with their files, webhooks and index entries. Each task has a commit of its
 * own, so the next run continues one that was interrupted.
 *
 * @throws {GatewayError} `conflict` if a task changes all the time.
 */
export async function eraseTasks(parts: TaskRemovalParts, account: string): Promise<ErasedTasks> {
  const removed = { tasks: 0, files: 0 };
  for (const status of TERMINAL_STATUSES) {
    for await (const page of pagesOf(parts.store, account, status)) {
      await forEachConcurrent(page, AT_ONCE, async ({ id }) => {
        const task = await eraseTask(parts, id);
        if (task === null) return;
        removed.tasks++;
        removed.files += filesOf(task);
      });
    }
  }
  return removed;
}

/** Removes all values of `Idempotency-Key` of a credential, which are the caller's text. Returns their number. */
export async function eraseIdempotencyKeys(store: Store, keyId: string): Promise<number> {
  let removed = 0;
  // Ends when nothing is left: each step deletes.
  for (;;) {
    const count = await removeIdempotencyKeys(store, keyId, PAGE);
    removed += count;
    if (count < PAGE) return removed;
  }
}

async function* pagesOf(
  store: Store,
  account: string,
  status: VideoStatus,
): AsyncGenerator<readonly TaskIndexEntry[]> {
  let after: TaskIndexEntry | undefined = START;
  // Ends with the last page.
  while (after !== undefined) {
    const place: TaskIndexEntry = after;
    const page = await scanTaskIndex(store, { account, status }, { after: place, limit: PAGE, reverse: false });
    yield page;
    after = page[PAGE - 1];
  }
}

/** Returns the removed task; null if it was removed already. */
async function eraseTask(parts: TaskRemovalParts, id: string): Promise<VideoTask | null> {
  for (let race = 0; race < MAX_RACES; race++) {
    const entry = await readTask(parts.store, id);
    if (entry === null) return null;
    if (await removeEndedTask(parts, entry) === "removed") return entry.value;
  }
  throw new GatewayError("conflict", "Cannot remove the tasks of the account: too many concurrent changes");
}

function filesOf({ inputs, mirrors, extraMirrors = [], copiedAt }: VideoTask): number {
  return inputs.length + (copiedAt === undefined ? 0 : mirrors.length + extraMirrors.length);
}
