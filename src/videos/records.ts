import { joined } from "../billing/records.ts";
import type { TimePlace } from "../lib/time_place.ts";
import type { Commit, Entry, Job, Key, Store } from "../store/store.ts";
import type { VideoStatus, VideoTask } from "./task.ts";

/** A task as it was read, with the version to check. */
export type TaskEntry = Entry<VideoTask>;

/** What an `Idempotency-Key` stands for. */
export interface IdempotencyRecord {
  /** SHA-256 of the request's body, hexadecimal. */
  readonly bodyHash: string;
  readonly taskId: string;
}

/** Where a task stands in the order of creations. */
export type TaskPlace = TimePlace;

/** Which tasks stand in one line. */
export interface TaskLine {
  /** Null for everybody's. */
  readonly account: string | null;
  readonly status: VideoStatus;
}

/** The kinds of jobs that a task owes; each has the task's id as its `ref`. */
export type VideoJobKind = "video_submit" | "video_poll" | "video_mirror" | "video_forget";

const TASKS: Key = ["video", "task"];
const taskKey = (id: string): Key => [...TASKS, id];
const ownTasks = (keyId: string): Key => ["video", "own", keyId];
const ownTaskKey = (keyId: string, id: string): Key => [...ownTasks(keyId), id];
/** Tasks of one status in the order of their creation: everybody's, or an account's. Each holds the task's model. */
const line = ({ account, status }: TaskLine): Key =>
  account === null ? ["video", "time", status] : ["video", "account_time", account, status];
const lineKey = (of: TaskLine, { createdAt, id }: TaskPlace): Key => [...line(of), createdAt, id];
/** There once every task stands in its lines. */
const LINES_KEPT: Key = ["video", "lines_kept"];
const idempotencyKey = (keyId: string, key: string): Key => ["video", "idempotency", keyId, key];

/** A task by its id; null when there is none. */
export async function readTask(store: Store, id: string): Promise<TaskEntry | null> {
  const [entry] = await store.get<VideoTask>([taskKey(id)]);
  return entry;
}

/**
 * A credential's tasks, newest first.
 *
 * @param after The id to go on behind; null to begin.
 */
export async function readOwnTasks(
  store: Store,
  keyId: string,
  after: string | null,
  limit: number,
): Promise<VideoTask[]> {
  const place = after === null ? {} : { after: ownTaskKey(keyId, after) };
  const index = await store.scan(ownTasks(keyId), { ...place, limit, reverse: true });
  const ids = index.map(({ key }) => String(key[key.length - 1]));
  return await readTasks(store, ids);
}

/** The tasks of these ids, in their order; those that are not there are left out. */
export async function readTasks(store: Store, ids: readonly string[]): Promise<VideoTask[]> {
  if (ids.length === 0) return [];
  const entries = await store.get<VideoTask>(ids.map(taskKey));
  return entries.flatMap((entry) => entry ? [entry.value] : []);
}

/**
 * Places of a line in the order of creation, newest first when `reverse`.
 *
 * @param page `after`: the place to go on behind, a task's or not.
 */
export async function scanLine(
  store: Store,
  of: TaskLine,
  page: { readonly after: TaskPlace; readonly limit: number; readonly reverse: boolean },
): Promise<(TaskPlace & Pick<VideoTask, "model">)[]> {
  const { length } = line(of);
  const entries = await store.scan<string>(line(of), { ...page, after: lineKey(of, page.after) });
  return entries.map(({ key, value }) => ({
    createdAt: Number(key[length]),
    id: String(key[length + 1]),
    model: value,
  }));
}

/**
 * Enters tasks that were written before there were lines; once for a store. Nobody may change a task meanwhile, so it
 * comes before the first request and the first job.
 */
export async function enterOldTasks(store: Store): Promise<void> {
  const [kept] = await store.get([LINES_KEPT]);
  if (kept) return;
  let tasks: Entry<VideoTask>[];
  let after: Key | undefined;
  do {
    tasks = await store.scan<VideoTask>(TASKS, { after, limit: TASKS_A_COMMIT });
    after = tasks[tasks.length - 1]?.key;
    if (tasks.length > 0) await store.commit(null, { set: tasks.flatMap(({ value }) => entriesInLines(value)) });
  } while (tasks.length === TASKS_A_COMMIT);
  await store.commit(null, { set: [{ key: LINES_KEPT, value: true }] });
}

const TASKS_A_COMMIT = 100;

function linesOf({ account, status }: VideoTask): TaskLine[] {
  return [{ account: null, status }, { account, status }];
}

function entriesInLines(task: VideoTask): NonNullable<Commit["set"]>[number][] {
  return linesOf(task).map((of) => ({ key: lineKey(of, task), value: task.model }));
}

/** The commit with a new task in it, and the job that hands it to a vendor. */
export function addTask(commit: Commit, task: VideoTask): Commit {
  const key = taskKey(task.id);
  return joined(commit, {
    check: [{ key, version: null }],
    set: [{ key, value: task }, { key: ownTaskKey(task.keyId, task.id), value: true }, ...entriesInLines(task)],
    add: [{ kind: "video_submit" satisfies VideoJobKind, ref: task.id, dueAt: task.createdAt }],
  });
}

/** The commit with a change of a task in it, refused as `conflict` when the task is not as it was read any more. */
export function changeTask(commit: Commit, entry: TaskEntry, change: Partial<VideoTask>): Commit {
  const { key, version, value: before } = entry;
  const after = { ...before, ...change };
  const changed = joined(commit, { check: [{ key, version }], set: [{ key, value: after }] });
  if (before.status === after.status) return changed;
  const left = linesOf(before).map((of) => lineKey(of, before));
  return joined(changed, { delete: left, set: entriesInLines(after) });
}

/** The commit with a job in it. */
export function addJob(commit: Commit, kind: VideoJobKind, ref: string, dueAt: number): Commit {
  return joined(commit, { add: [{ kind, ref, dueAt }] });
}

/** The commit with the end of a claimed job in it. */
export function settleJob(commit: Commit, job: Job | null): Commit {
  return job === null ? commit : joined(commit, { settle: [job] });
}

/** Puts a job off without a change to its task; a refusal means that it is another's, which needs no deed. */
export async function postponeJob(store: Store, job: Job, dueAt: number, attempt: number): Promise<void> {
  await store.commit(null, { postpone: [{ job, dueAt, attempt }] });
}

/** What an `Idempotency-Key` stands for; null for one that was not used in the last 24 hours. */
export async function readIdempotency(store: Store, keyId: string, key: string): Promise<IdempotencyRecord | null> {
  const [entry] = await store.get<IdempotencyRecord>([idempotencyKey(keyId, key)]);
  return entry?.value ?? null;
}

/** The commit with an `Idempotency-Key` in it, refused as `conflict` when somebody used it first. */
export function addIdempotency(
  commit: Commit,
  keyId: string,
  key: string,
  record: IdempotencyRecord,
  ttlMs: number,
): Commit {
  const at = idempotencyKey(keyId, key);
  return joined(commit, { check: [{ key: at, version: null }], set: [{ key: at, value: record, ttlMs }] });
}
