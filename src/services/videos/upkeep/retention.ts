import { forEachConcurrent } from "../../../platform/lib/collections/for_each_concurrent.ts";
import {
  changeTask,
  type CopiedTask,
  readTask,
  removeCopiedTask,
  scanCopiedTasks,
  scanTaskIndex,
} from "../tasks/records.ts";
import { MAX_RACES, removeEndedTask } from "./remove_task.ts";
import { removeCopies } from "../results/task_files.ts";
import { TERMINAL_STATUSES, type TerminalStatus } from "../../webhooks/ended_task.ts";
import type { VideoTask } from "../tasks/task.ts";
import type { TaskIndexEntry } from "../tasks/records.ts";
import type { VideoParts } from "../tasks/video_parts.ts";

/** Number of tasks that one step examines. */
const BATCH = 100;
/** Number of concurrent removals, which leaves capacity for requests. */
const AT_ONCE = 8;

/**
 * Returns a step that removes copies of results after the retention period, oldest first. It skips copies of a task
 * whose event is being delivered, because the event contains their addresses. It also skips copies that are being
 * replaced.
 *
 * @param filesMs Retention from the time of the copy; null means forever.
 * @returns The step, which resolves to whether there may be more to remove.
 */
export function fileSweep(parts: VideoParts, filesMs: number | null): () => Promise<boolean> {
  let after: CopiedTask | null = null;
  return async () => {
    if (filesMs === null) return false;
    const copiedBy = parts.store.now() - filesMs;
    const due = (await scanCopiedTasks(parts.store, after, BATCH)).filter(({ copiedAt }) => copiedAt <= copiedBy);
    await forEachConcurrent(due, AT_ONCE, (copied) => removeFiles(parts, copied));
    after = due[BATCH - 1] ?? null;
    return after !== null;
  };
}

async function removeFiles({ store, files, log, hasPendingDelivery }: VideoParts, copied: CopiedTask): Promise<void> {
  if (await hasPendingDelivery(copied.id)) return;
  const entry = await readTask(store, copied.id);
  if (entry?.value.mirroring) return;
  // The results were copied again since; another entry exists for the new copies.
  if (entry?.value.copiedAt !== copied.copiedAt) return void await store.commit(null, removeCopiedTask({}, copied));
  await removeCopies(files, entry.value);
  const change = { mirrors: [], extraMirrors: [], copiedAt: undefined };
  const { ok } = await store.commit(null, removeCopiedTask(changeTask({}, entry, change), copied));
  if (ok) log.info("video_files_expired", { ref: copied.id });
}

/**
 * Returns a step that removes ended tasks after the retention period, each status in order of creation. It skips tasks
 * whose event is being delivered or whose results are being copied.
 *
 * @param tasksMs Retention from the task's end; null means forever.
 * @returns The step, which resolves to whether there may be more to remove.
 */
export function taskSweep(parts: VideoParts, tasksMs: number | null): () => Promise<boolean> {
  const cursors = new Map<TerminalStatus, TaskIndexEntry>();
  return async () => {
    if (tasksMs === null) return false;
    const endedBy = parts.store.now() - tasksMs;
    let hasMore = false;
    for (const status of TERMINAL_STATUSES) {
      const next = await sweepStatus(parts, status, endedBy, cursors.get(status) ?? START);
      if (next === null) cursors.delete(status);
      else cursors.set(status, next);
      hasMore ||= next !== null;
    }
    return hasMore;
  };
}

const START: TaskIndexEntry = { createdAt: 0, id: "" };

/** Returns the position to continue after; null at the end of the tasks that can be due. */
async function sweepStatus(
  parts: VideoParts,
  status: TerminalStatus,
  endedBy: number,
  after: TaskIndexEntry,
): Promise<TaskIndexEntry | null> {
  const places = await scanTaskIndex(parts.store, { account: null, status }, { after, limit: BATCH, reverse: false });
  // A task ends after its creation, so no task after the first one created too late is due.
  const due = places.filter(({ createdAt }) => createdAt <= endedBy);
  await forEachConcurrent(due, AT_ONCE, ({ id }) => removeIfDue(parts, id, endedBy));
  return due[BATCH - 1] ?? null;
}

function isDue({ updatedAt, mirroring }: VideoTask, endedBy: number): boolean {
  return updatedAt <= endedBy && !mirroring;
}

/** The sweep of files may change the task meanwhile. */
async function removeIfDue(parts: VideoParts, id: string, endedBy: number): Promise<void> {
  for (let race = 0; race < MAX_RACES; race++) {
    const entry = await readTask(parts.store, id);
    if (entry === null || !isDue(entry.value, endedBy)) return;
    const removal = await removeEndedTask(parts, entry);
    if (removal === "removed") parts.log.info("video_expired", { ref: id });
    if (removal !== "changed") return;
  }
}
