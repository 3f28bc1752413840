import { deleteHold } from "../../billing/hold.ts";
import { mergeCommits } from "../../billing/records.ts";
import type { TimeIndexEntry } from "../../lib/time_index_entry.ts";
import type { Commit, CommitResult, Entry, Job, Key, Store } from "../../store/store.ts";
import { writtenVersion } from "../../store/written_version.ts";
import { ownIndexKeysOf } from "./own_index.ts";
import { packTask, type StoredTask, unpackTask } from "./packed_task.ts";
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
export type TaskPlace = TimeIndexEntry;

/** Which tasks stand in one line. */
export interface TaskLine {
  /** Null for everybody's. */
  readonly account: string | null;
  readonly status: VideoStatus;
}

/**
 * The kinds of jobs that a task owes; each has the task's id as its `ref`. A `video_submit` that has to wait goes on as
 * `video_submit_retry`, so that however many tasks wait, a new one is behind none of them.
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
/** Tasks of one status in the order of their creation: everybody's, or an account's. Each holds the task's model. */
const line = ({ account, status }: TaskLine): Key =>
  account === null ? ["video", "time", status] : ["video", "account_time", account, status];
const lineKey = (of: TaskLine, { createdAt, id }: TaskPlace): Key => [...line(of), createdAt, id];
/** Tasks whose results have copies in the file store, by when these were made. */
const KEPT_FILES: Key = ["video", "kept_files"];
const keptFilesKey = ({ copiedAt, id }: KeptFiles): Key => [...KEPT_FILES, copiedAt, id];
/** There once every task stands in the index as it is today. */
const INDEX_KEPT: Key = ["video", "index_kept", 2];
const idempotencyKey = (keyId: string, key: string): Key => ["video", "idempotency", keyId, key];

/** A task by its id; null when there is none. */
export async function readTask(store: Store, id: string): Promise<TaskEntry | null> {
  const [entry = null] = await store.get<StoredTask>([taskKey(id)]);
  return entry && { ...entry, value: unpackTask(entry.value) };
}

/** The tasks that a commit writes, as they are after it. */
export function tasksIn({ set = [] }: Commit): VideoTask[] {
  return set.flatMap(({ key, value }) =>
    key[0] === TASKS[0] && key[1] === TASKS[1] ? [unpackTask(value as StoredTask)] : []
  );
}

/** The tasks of these ids, in their order; those that are not there are left out. */
export async function readTasks(store: Store, ids: readonly string[]): Promise<VideoTask[]> {
  if (ids.length === 0) return [];
  const entries = await store.get<StoredTask>(ids.map(taskKey));
  return entries.flatMap((entry) => entry ? [unpackTask(entry.value)] : []);
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
 * Enters tasks that an earlier version wrote into the index as it is today; once for a store, and from where it was
 * broken off. Nobody may change a task meanwhile, so it comes before the first request and the first job.
 */
export async function enterOldTasks(store: Store): Promise<void> {
  const [kept] = await store.get<true | { readonly after: Key }>([INDEX_KEPT]);
  if (kept?.value === true) return;
  let tasks: Entry<StoredTask>[];
  let after = kept?.value.after;
  do {
    tasks = await store.scan<StoredTask>(TASKS, { after, limit: TASKS_A_COMMIT });
    after = tasks[tasks.length - 1]?.key;
    const isLast = after === undefined || tasks.length < TASKS_A_COMMIT;
    const entered = tasks.flatMap(({ value }) => indexOf(unpackTask(value)));
    await store.commit(null, { set: [...entered, { key: INDEX_KEPT, value: isLast ? true : { after } }] });
  } while (tasks.length === TASKS_A_COMMIT);
}

/** Whether the store has tasks of an earlier version that {@linkcode enterOldTasks} has not indexed yet. */
export async function hasUnindexedTasks(store: Store): Promise<boolean> {
  const [kept] = await store.get<true | { readonly after: Key }>([INDEX_KEPT]);
  return kept?.value !== true && (await store.scan(TASKS, { limit: 1 })).length > 0;
}

const TASKS_A_COMMIT = 40;

/** The entries of a task in all lists: everybody's and its account's by time, and those of its credential. */
function indexOf(task: VideoTask): NonNullable<Commit["set"]>[number][] {
  const { account, status, model } = task;
  const lines: TaskLine[] = [{ account: null, status }, { account, status }];
  return [
    ...lines.map((of) => ({ key: lineKey(of, task), value: model })),
    ...ownIndexKeysOf(task).map((key) => ({ key, value: true })),
  ];
}

/** The commit with a new task in it, and the job that hands it to a vendor. */
export function addTask(commit: Commit, task: VideoTask): Commit {
  const key = taskKey(task.id);
  return mergeCommits(commit, {
    check: [{ key, version: null }],
    set: [{ key, value: packTask(task) }, ...indexOf(task)],
    addJobs: [{ kind: "video_submit" satisfies VideoJobKind, ref: task.id, dueAt: task.createdAt }],
  });
}

/** The commit with a change of a task in it, refused as `conflict` when the task is not as it was read any more. */
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

/** The entry that a commit of {@linkcode changeTask} left; null when it was refused. */
export function changedTask(
  { key, value }: TaskEntry,
  change: Partial<VideoTask>,
  commit: Commit,
  result: CommitResult,
): TaskEntry | null {
  const version = writtenVersion(commit, result, key);
  return version === null ? null : { key, value: { ...value, ...change }, version };
}

/** Those entries whose keys the others do not have. */
function withoutKeysOf<E extends { readonly key: Key }>(entries: readonly E[], others: readonly E[]): E[] {
  const known = new Set(others.map(({ key }) => JSON.stringify(key)));
  return entries.filter(({ key }) => !known.has(JSON.stringify(key)));
}

/** The commit with the end of a task's record in it, refused alike; its ledger lines stay. */
export function removeTask(commit: Commit, { key, version, value: task }: TaskEntry): Commit {
  const { id, copiedAt } = task;
  const kept = copiedAt === undefined ? [] : [keptFilesKey({ id, copiedAt })];
  const removed = { check: [{ key, version }], delete: [key, ...indexOf(task).map((entry) => entry.key), ...kept] };
  return deleteHold(mergeCommits(commit, removed), id);
}

/** A task whose results were copied into the file store. */
export interface KeptFiles {
  readonly id: string;
  readonly copiedAt: number;
}

/** The commit in which a task stands among those with copies. */
export function addKeptFiles(commit: Commit, kept: KeptFiles): Commit {
  return mergeCommits(commit, { set: [{ key: keptFilesKey(kept), value: true }] });
}

/** The commit in which a task stands among them no more. */
export function dropKeptFiles(commit: Commit, kept: KeptFiles): Commit {
  return mergeCommits(commit, { delete: [keptFilesKey(kept)] });
}

/**
 * Tasks with copies, the oldest copies first.
 *
 * @param after The place to go on behind; null to begin.
 */
export async function scanKeptFiles(store: Store, after: KeptFiles | null, limit: number): Promise<KeptFiles[]> {
  const entries = await store.scan(KEPT_FILES, { limit, ...(after && { after: keptFilesKey(after) }) });
  return entries.map(({ key }) => ({
    copiedAt: Number(key[KEPT_FILES.length]),
    id: String(key[KEPT_FILES.length + 1]),
  }));
}

/** The commit with a job in it. */
export function addJob(commit: Commit, kind: VideoJobKind, ref: string, dueAt: number): Commit {
  return mergeCommits(commit, { addJobs: [{ kind, ref, dueAt }] });
}

/** The commit with the end of a claimed job in it. */
export function settleJob(commit: Commit, job: Job | null): Commit {
  return job === null ? commit : mergeCommits(commit, { completeJobs: [job] });
}

/** The commit with the postponement of a submit job in it. */
export function putOffSubmit(commit: Commit, job: Job, dueAt: number, attempt: number): Commit {
  if (job.kind === "video_submit_retry") return mergeCommits(commit, { postponeJobs: [{ job, dueAt, attempt }] });
  return addJob(settleJob(commit, job), "video_submit_retry", job.ref, dueAt);
}

/** Puts a job off without a change to its task; a refusal means that it is another's, which needs no deed. */
export async function postponeJob(store: Store, job: Job, dueAt: number, attempt: number): Promise<void> {
  await store.commit(null, { postponeJobs: [{ job, dueAt, attempt }] });
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
  return mergeCommits(commit, { check: [{ key: at, version: null }], set: [{ key: at, value: record, ttlMs }] });
}
