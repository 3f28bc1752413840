import { deleteHold } from "../../../money/billing/hold.ts";
import { mergeCommits } from "../../../money/billing/accounts/records.ts";
import type { TimeIndexEntry } from "../../../platform/lib/basics/time_index_entry.ts";
import type { Commit, CommitResult, Entry, Job, Key, Store } from "../../../platform/store/store.ts";
import { writtenVersion } from "../../../platform/store/written_version.ts";
import { ownIndexKeysOf } from "./own_index.ts";
import { packTask, type StoredTask, unpackTask } from "./packed_task.ts";
import type { VideoStatus, VideoTask } from "./task.ts";
import type { StoreTime } from "../../../platform/store/store_time.ts";

/** A task as read, with the version to check. */
export type TaskEntry = Entry<VideoTask>;

/** The record of an `Idempotency-Key`. */
export interface IdempotencyRecord {
  /** SHA-256 of the request body, hexadecimal. */
  readonly bodyHash: string;
  readonly taskId: string;
}

/** A position in an index ordered by creation. */
export type TaskIndexEntry = TimeIndexEntry;

/** Selects one index of tasks. */
export interface TaskIndex {
  /** Null for all accounts. */
  readonly account: string | null;
  readonly status: VideoStatus;
}

/**
 * Kinds of the jobs of a task; each job has the task's id as its `ref`. A `video_submit` job that must wait continues
 * as `video_submit_retry`. Waiting tasks therefore never delay a new task.
 */
export type VideoJobKind =
  | "video_submit"
  | "video_submit_retry"
  | "video_poll"
  | "video_stop"
  | "video_mirror"
  | "video_forget";

const TASKS: Key = ["video", "task"];
const taskKey = (id: string): Key => [...TASKS, id];
/**
 * Index of the tasks of one status in order of creation, of all accounts or of one. Each entry holds the task's model.
 */
const indexPrefix = ({ account, status }: TaskIndex): Key =>
  account === null ? ["video", "time", status] : ["video", "account_time", account, status];
const indexKey = (of: TaskIndex, { createdAt, id }: TaskIndexEntry): Key => [...indexPrefix(of), createdAt, id];
/** Index of tasks with copies of results in the file store, by time of the copy. */
const KEPT_FILES: Key = ["video", "kept_files"];
const keptFilesKey = ({ copiedAt, id }: CopiedTask): Key => [...KEPT_FILES, copiedAt, id];
/** Marker: every task is in the current index. */
const INDEX_KEPT: Key = ["video", "index_kept", 2];
const idempotencyKeys = (keyId: string): Key => ["video", "idempotency", keyId];
const idempotencyKey = (keyId: string, key: string): Key => [...idempotencyKeys(keyId), key];

/** Reads a task; null if there is none. */
export async function readTask(store: Store, id: string): Promise<TaskEntry | null> {
  const [entry = null] = await store.get<StoredTask>([taskKey(id)]);
  return entry && { ...entry, value: unpackTask(entry.value) };
}

/** Returns the tasks that a commit writes, in their new state. */
export function tasksWrittenBy({ set = [] }: Commit): VideoTask[] {
  return set.flatMap(({ key, value }) =>
    key[0] === TASKS[0] && key[1] === TASKS[1] ? [unpackTask(value as StoredTask)] : []
  );
}

/** Reads tasks in the order of their ids; missing ones are left out. */
export async function readTasks(store: Store, ids: readonly string[]): Promise<VideoTask[]> {
  if (ids.length === 0) return [];
  const entries = await store.get<StoredTask>(ids.map(taskKey));
  return entries.flatMap((entry) => entry ? [unpackTask(entry.value)] : []);
}

/**
 * Reads entries of an index in order of creation, newest first with `reverse`.
 *
 * @param page `after`: the position to continue after; a task need not exist there.
 */
export async function scanTaskIndex(
  store: Store,
  of: TaskIndex,
  page: { readonly after: TaskIndexEntry; readonly limit: number; readonly reverse: boolean },
): Promise<(TaskIndexEntry & Pick<VideoTask, "model">)[]> {
  const { length } = indexPrefix(of);
  const entries = await store.scan<string>(indexPrefix(of), { ...page, after: indexKey(of, page.after) });
  return entries.map(({ key, value }) => ({
    createdAt: Number(key[length]),
    id: String(key[length + 1]),
    model: value,
  }));
}

/**
 * Adds tasks of earlier versions to the current index. It runs once for a store and continues after an interruption.
 * Tasks must not change meanwhile, so it runs before the first request and job.
 */
export async function indexOldTasks(store: Store): Promise<void> {
  const [marker] = await store.get<true | { readonly after: Key }>([INDEX_KEPT]);
  if (marker?.value === true) return;
  let tasks: Entry<StoredTask>[];
  let after = marker?.value.after;
  do {
    tasks = await store.scan<StoredTask>(TASKS, { after, limit: TASKS_A_COMMIT });
    after = tasks[tasks.length - 1]?.key;
    const isLast = after === undefined || tasks.length < TASKS_A_COMMIT;
    const entered = tasks.flatMap(({ value }) => indexOf(unpackTask(value)));
    await store.commit(null, { set: [...entered, { key: INDEX_KEPT, value: isLast ? true : { after } }] });
  } while (tasks.length === TASKS_A_COMMIT);
}

/** Whether the store has tasks of an earlier version that {@linkcode indexOldTasks} has not indexed yet. */
export async function hasUnindexedTasks(store: Store): Promise<boolean> {
  const [marker] = await store.get<true | { readonly after: Key }>([INDEX_KEPT]);
  return marker?.value !== true && (await store.scan(TASKS, { limit: 1 })).length > 0;
}

const TASKS_A_COMMIT = 40;

/** Returns the index entries of a task: by time for all accounts and for its account, and those of its credential. */
function indexOf(task: VideoTask): NonNullable<Commit["set"]>[number][] {
  const { account, status, model } = task;
  const indexes: TaskIndex[] = [{ account: null, status }, { account, status }];
  return [
    ...indexes.map((of) => ({ key: indexKey(of, task), value: model })),
    ...ownIndexKeysOf(task).map((key) => ({ key, value: true })),
  ];
}

/** Adds a new task and its submit job, which is due now, to a commit. */
export function addTask(commit: Commit, task: VideoTask, now: StoreTime): Commit {
  const key = taskKey(task.id);
  return mergeCommits(commit, {
    check: [{ key, version: null }],
    set: [{ key, value: packTask(task) }, ...indexOf(task)],
    addJobs: [{ kind: "video_submit" satisfies VideoJobKind, ref: task.id, dueAt: now }],
  });
}

/** Adds a change of a task to a commit. The commit fails with `conflict` if the task changed since it was read. */
export function changeTask(commit: Commit, entry: TaskEntry, change: Partial<VideoTask>): Commit {
  const { key, version, value: before } = entry;
  const after = { ...before, ...change };
  const changed = mergeCommits(commit, { check: [{ key, version }], set: [{ key, value: packTask(after) }] });
  if (before.status === after.status) return changed;
  const [left, entered] = [indexOf(before), indexOf(after)];
  return mergeCommits(changed, {
    delete: withoutKeysOf(left, entered).map(({ key }) => key),
    set: withoutKeysOf(entered, left),
  });
}

/** Returns the entry after a commit of {@linkcode changeTask}; null if it failed. */
export function changedTask(
  { key, value }: TaskEntry,
  change: Partial<VideoTask>,
  commit: Commit,
  result: CommitResult,
): TaskEntry | null {
  const version = writtenVersion(commit, result, key);
  return version === null ? null : { key, value: { ...value, ...change }, version };
}

/** Returns the entries whose keys the others do not contain. */
function withoutKeysOf<E extends { readonly key: Key }>(entries: readonly E[], others: readonly E[]): E[] {
  const known = new Set(others.map(({ key }) => JSON.stringify(key)));
  return entries.filter(({ key }) => !known.has(JSON.stringify(key)));
}

/** Adds the removal of a task's record to a commit, with the same version check. Its ledger entries remain. */
export function removeTask(commit: Commit, { key, version, value: task }: TaskEntry): Commit {
  const { id, copiedAt } = task;
  const copied = copiedAt === undefined ? [] : [keptFilesKey({ id, copiedAt })];
  const removed = { check: [{ key, version }], delete: [key, ...indexOf(task).map((entry) => entry.key), ...copied] };
  return deleteHold(mergeCommits(commit, removed), id);
}

/** A task whose results were copied into the file store. */
export interface CopiedTask {
  readonly id: string;
  readonly copiedAt: number;
}

/** Adds a task to the index of copies in a commit. */
export function addCopiedTask(commit: Commit, copied: CopiedTask): Commit {
  return mergeCommits(commit, { set: [{ key: keptFilesKey(copied), value: true }] });
}

/** Removes a task from the index of copies in a commit. */
export function removeCopiedTask(commit: Commit, copied: CopiedTask): Commit {
  return mergeCommits(commit, { delete: [keptFilesKey(copied)] });
}

/**
 * Returns tasks with copies, the oldest copies first.
 *
 * @param after Position to continue after; null for the first page.
 */
export async function scanCopiedTasks(store: Store, after: CopiedTask | null, limit: number): Promise<CopiedTask[]> {
  const entries = await store.scan(KEPT_FILES, { limit, ...(after && { after: keptFilesKey(after) }) });
  return entries.map(({ key }) => ({
    copiedAt: Number(key[KEPT_FILES.length]),
    id: String(key[KEPT_FILES.length + 1]),
  }));
}

/** Adds a job to a commit. */
export function addJob(commit: Commit, kind: VideoJobKind, ref: string, dueAt: StoreTime): Commit {
  return mergeCommits(commit, { addJobs: [{ kind, ref, dueAt }] });
}

/** Adds the completion of a claimed job to a commit. */
export function completeJob(commit: Commit, job: Job | null): Commit {
  return job === null ? commit : mergeCommits(commit, { completeJobs: [job] });
}

/** Adds the rescheduling of a submit job to a commit. */
export function postponeSubmit(commit: Commit, job: Job, dueAt: StoreTime, attempt: number): Commit {
  if (job.kind === "video_submit_retry") return mergeCommits(commit, { postponeJobs: [{ job, dueAt, attempt }] });
  return addJob(completeJob(commit, job), "video_submit_retry", job.ref, dueAt);
}

/**
 * Reschedules a job without a change to its task. A conflict means that another process has the job, which needs no
 * action.
 */
export async function postponeJob(store: Store, job: Job, dueAt: StoreTime, attempt: number): Promise<void> {
  await store.commit(null, { postponeJobs: [{ job, dueAt, attempt }] });
}

/** Reads the record of an `Idempotency-Key`; null if the key was not used in the last 24 hours. */
export async function readIdempotency(store: Store, keyId: string, key: string): Promise<IdempotencyRecord | null> {
  const [entry] = await store.get<IdempotencyRecord>([idempotencyKey(keyId, key)]);
  return entry?.value ?? null;
}

/** Removes up to `limit` values of `Idempotency-Key` of a credential, in one commit. Returns their number. */
export async function removeIdempotencyKeys(store: Store, keyId: string, limit: number): Promise<number> {
  const entries = await store.scan(idempotencyKeys(keyId), { limit });
  if (entries.length > 0) await store.commit(null, { delete: entries.map(({ key }) => key) });
  return entries.length;
}

/** Adds an `Idempotency-Key` to a commit. The commit fails with `conflict` if the key is in use. */
export function addIdempotency(
  commit: Commit,
  keyId: string,
  key: string,
  record: IdempotencyRecord,
  ttlMs: number,
): Commit {
  const at = idempotencyKey(keyId, key);
  return mergeCommits(commit, { check: [{ key: at, version: null }], set: [{ key: at, value: record, ttlMs }] });
}
