import { appendAll } from "../../../platform/lib/collections/append_all.ts";
import { type Hold, readHold } from "../../../money/billing/hold.ts";
import { mergeByTime } from "../../../platform/lib/basics/time_index_entry.ts";
import type { Store } from "../../../platform/store/store.ts";
import { readTask, readTasks, scanTaskIndex, type TaskIndexEntry } from "../tasks/records.ts";
import { VIDEO_STATUSES, type VideoStatus, type VideoTask } from "../tasks/task.ts";
import { recopyResults } from "./recopy.ts";
import { isTaskId } from "../tasks/task_id.ts";

/** A task with its hold. */
export interface TaskWithHold {
  readonly task: VideoTask;
  /** Null if the task never had a hold. */
  readonly hold: Hold | null;
}

/** Filter of a list of tasks; null fields match all. */
export interface TaskFilter {
  readonly account: string | null;
  readonly status: VideoStatus | null;
  /** Id of the model in the catalog. */
  readonly model: string | null;
  /** Time of creation in Unix milliseconds; `from` is inclusive, `to` exclusive. */
  readonly from: number;
  readonly to: number;
}

/** Position and size of a page. */
export interface TaskPageRequest {
  /** Null for the first page. */
  readonly after: TaskIndexEntry | null;
  readonly limit: number;
  /** Newest first. */
  readonly reverse: boolean;
}

/** One page of the tasks of all accounts. */
export interface TaskWithHoldPage {
  readonly tasks: readonly TaskWithHold[];
  /** Cursor for the next page; null on the last page. */
  readonly next: TaskIndexEntry | null;
}

/** Reads the tasks of all accounts for the operator. */
export interface TaskAdmin {
  /** Returns a task; null if there is none. */
  read(id: string): Promise<TaskWithHold | null>;
  /**
   * Lists tasks in order of creation. Account, status and time use the index, so the cost of a page does not grow with
   * the number of tasks. The model is filtered from the matching entries: a page reads up to
   * {@linkcode MAX_TASKS_SCANNED} of them, then ends early, with a `next`.
   */
  list(filter: TaskFilter, page: TaskPageRequest): Promise<TaskWithHoldPage>;
  /**
   * Copies the results of a completed task again, starting now. Existing copies stay until their replacement is
   * complete.
   *
   * @throws {GatewayError} `not_found`; `conflict` if the task has no results.
   */
  mirror(id: string): Promise<TaskWithHold>;
}

/** Maximum number of index entries that a page with a model filter reads. */
export const MAX_TASKS_SCANNED = 10_000;

/** Number of entries per read. */
const LOOKED_AT_ONCE = 500;

/** Opens the task administration of a store. */
export function openTaskAdmin(store: Store): TaskAdmin {
  const withHold = async (task: VideoTask) => ({ task, hold: await readHold(store, task.id) });
  return {
    mirror: async (id) => await withHold(await recopyResults(store, id)),
    async read(id) {
      const entry = isTaskId(id) ? await readTask(store, id) : null;
      return entry && await withHold(entry.value);
    },
    async list(filter, page) {
      const { entries, next } = await pickEntries(store, filter, page);
      const tasks = await readTasks(store, entries.map(({ id }) => id));
      // A task that ended since its entry was read belongs to another index now.
      const still = tasks.filter(({ status }) => filter.status === null || status === filter.status);
      return { tasks: await Promise.all(still.map(withHold)), next };
    },
  };
}

async function pickEntries(
  store: Store,
  filter: TaskFilter,
  { after, limit, reverse }: TaskPageRequest,
): Promise<{ readonly entries: readonly TaskIndexEntry[]; readonly next: TaskIndexEntry | null }> {
  const step = filter.model === null ? limit + 1 : LOOKED_AT_ONCE;
  const picked: TaskIndexEntry[] = [];
  let last = after ?? { createdAt: reverse ? filter.to : filter.from, id: "" };
  for (let scanned = 0; scanned < MAX_TASKS_SCANNED; scanned += step) {
    const entries = await entriesAfter(store, filter, { after: last, limit: step, reverse });
    appendAll(picked, entries.filter(({ model }) => filter.model === null || model === filter.model));
    const shown = picked.slice(0, limit);
    if (picked.length > limit) return { entries: shown, next: shown.at(-1) ?? null };
    const end = entries.at(-1);
    if (end === undefined || entries.length < step) return { entries: picked, next: null };
    last = end;
  }
  return { entries: picked, next: last };
}

/** Returns the next entries of all indexes that match the filter, merged in one order. */
async function entriesAfter(
  store: Store,
  { account, status, from, to }: TaskFilter,
  page: { readonly after: TaskIndexEntry; readonly limit: number; readonly reverse: boolean },
) {
  const scan = (each: VideoStatus) => scanTaskIndex(store, { account, status: each }, page);
  const [first, ...others]: readonly [VideoStatus, ...VideoStatus[]] = status === null ? VIDEO_STATUSES : [status];
  // Tasks change from `pending` to the other statuses. Reading in this order can return one twice, but misses none.
  const lists = [await scan(first), ...await Promise.all(others.map(scan))];
  return mergeByTime(lists.flat(), page.reverse).slice(0, page.limit).filter(({ createdAt }) =>
    createdAt >= from && createdAt < to
  );
}
