import { type Hold, readHold } from "../../billing/hold.ts";
import { mergeByTime } from "../../lib/time_index_entry.ts";
import type { Store } from "../../store/store.ts";
import { readTask, readTasks, scanLine, type TaskPlace } from "./records.ts";
import { VIDEO_STATUSES, type VideoStatus, type VideoTask } from "./task.ts";
import { copyAnew } from "../results/copy_anew.ts";
import { isTaskId } from "./task_id.ts";

/** A task with the money that is or was set aside for it. */
export interface TaskWithHold {
  readonly task: VideoTask;
  /** Null when nothing was ever held for it. */
  readonly hold: Hold | null;
}

/** Which tasks are asked for; null for all. */
export interface TaskFilter {
  readonly account: string | null;
  readonly status: VideoStatus | null;
  /** The catalog's id. */
  readonly model: string | null;
  /** Unix milliseconds of the creation, the first included, the second not. */
  readonly from: number;
  readonly to: number;
}

/** Which part of them. */
export interface TaskAdminPage {
  /** Null to begin. */
  readonly after: TaskPlace | null;
  readonly limit: number;
  /** Newest first. */
  readonly reverse: boolean;
}

/** One page of everybody's tasks. */
export interface TaskStories {
  readonly stories: readonly TaskWithHold[];
  /** What to go on behind; null on the last page. */
  readonly next: TaskPlace | null;
}

/** Where an operator looks at everybody's tasks. */
export interface TaskAdmin {
  /** Null when there is no such task. */
  read(id: string): Promise<TaskWithHold | null>;
  /**
   * In the order of creation. Account, status and time are looked up, so that a page costs as much among many tasks as
   * among few. The model is picked out of what these leave: a page looks at up to {@linkcode MAX_TASKS_SCANNED} places for
   * it, then ends early, with a `next`.
   */
  list(filter: TaskFilter, page: TaskAdminPage): Promise<TaskStories>;
  /**
   * Has the results of a completed task copied anew, beginning now. Copies that are there stay until theirs is whole.
   *
   * @throws {GatewayError} `not_found`; `conflict` when the task has no results.
   */
  mirror(id: string): Promise<TaskWithHold>;
}

/** How many places a page that picks out a model looks at. */
export const MAX_TASKS_SCANNED = 10_000;

/** How many at a time. */
const LOOKED_AT_ONCE = 500;

/** Opens the desk on a store. */
export function openTaskAdmin(store: Store): TaskAdmin {
  const storyOf = async (task: VideoTask) => ({ task, hold: await readHold(store, task.id) });
  return {
    mirror: async (id) => await storyOf(await copyAnew(store, id)),
    async read(id) {
      const entry = isTaskId(id) ? await readTask(store, id) : null;
      return entry && await storyOf(entry.value);
    },
    async list(filter, page) {
      const { places, next } = await pickPlaces(store, filter, page);
      const tasks = await readTasks(store, places.map(({ id }) => id));
      // One that ended since its place was read stands in another line now.
      const still = tasks.filter(({ status }) => filter.status === null || status === filter.status);
      return { stories: await Promise.all(still.map(storyOf)), next };
    },
  };
}

async function pickPlaces(
  store: Store,
  filter: TaskFilter,
  { after, limit, reverse }: TaskAdminPage,
): Promise<{ readonly places: readonly TaskPlace[]; readonly next: TaskPlace | null }> {
  const step = filter.model === null ? limit + 1 : LOOKED_AT_ONCE;
  const picked: TaskPlace[] = [];
  let last = after ?? { createdAt: reverse ? filter.to : filter.from, id: "" };
  for (let looked = 0; looked < MAX_TASKS_SCANNED; looked += step) {
    const places = await placesBehind(store, filter, { after: last, limit: step, reverse });
    picked.push(...places.filter(({ model }) => filter.model === null || model === filter.model));
    const shown = picked.slice(0, limit);
    if (picked.length > limit) return { places: shown, next: shown.at(-1) ?? null };
    const end = places.at(-1);
    if (end === undefined || places.length < step) return { places: picked, next: null };
    last = end;
  }
  return { places: picked, next: last };
}

/** The next places of all lines that the filter names, in one order. */
async function placesBehind(
  store: Store,
  { account, status, from, to }: TaskFilter,
  page: { readonly after: TaskPlace; readonly limit: number; readonly reverse: boolean },
) {
  const scan = (each: VideoStatus) => scanLine(store, { account, status: each }, page);
  const [first, ...others]: readonly [VideoStatus, ...VideoStatus[]] = status === null ? VIDEO_STATUSES : [status];
  // A task leaves `pending` for the others: read in this order, one that moves meanwhile is seen twice, but never
  // missed.
  const lines = [await scan(first), ...await Promise.all(others.map(scan))];
  return mergeByTime(lines.flat(), page.reverse).slice(0, page.limit).filter(({ createdAt }) =>
    createdAt >= from && createdAt < to
  );
}
