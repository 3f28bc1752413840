import { joined } from "../billing/records.ts";
import type { Commit, Entry, Job, Key, Store } from "../store/store.ts";
import type { VideoTask } from "./task.ts";

/** A task as it was read, with the version to check. */
export type TaskEntry = Entry<VideoTask>;

/** What an `Idempotency-Key` stands for. */
export interface IdempotencyRecord {
  /** SHA-256 of the request's body, hexadecimal. */
  readonly bodyHash: string;
  readonly taskId: string;
}

/** The kinds of jobs that a task owes; each has the task's id as its `ref`. */
export type VideoJobKind = "video_submit" | "video_poll" | "video_mirror" | "video_forget";

const taskKey = (id: string): Key => ["video", "task", id];
const ownTasks = (keyId: string): Key => ["video", "own", keyId];
const ownTaskKey = (keyId: string, id: string): Key => [...ownTasks(keyId), id];
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
  if (ids.length === 0) return [];
  const entries = await store.get<VideoTask>(ids.map(taskKey));
  return entries.flatMap((entry) => entry ? [entry.value] : []);
}

/** The commit with a new task in it, and the job that hands it to a vendor. */
export function addTask(commit: Commit, task: VideoTask): Commit {
  const key = taskKey(task.id);
  return joined(commit, {
    check: [{ key, version: null }],
    set: [{ key, value: task }, { key: ownTaskKey(task.keyId, task.id), value: true }],
    add: [{ kind: "video_submit" satisfies VideoJobKind, ref: task.id, dueAt: task.createdAt }],
  });
}

/** The commit with a change of a task in it, refused as `conflict` when the task is not as it was read any more. */
export function changeTask(commit: Commit, entry: TaskEntry, change: Partial<VideoTask>): Commit {
  const { key, version } = entry;
  return joined(commit, { check: [{ key, version }], set: [{ key, value: { ...entry.value, ...change } }] });
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
