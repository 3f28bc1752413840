import { mergeCommits } from "../../../money/billing/accounts/records.ts";
import { entriesBelow } from "../../../platform/store/entries_below.ts";
import type { Commit, Entry, Key, Store } from "../../../platform/store/store.ts";
import type { StoreTime } from "../../../platform/store/store_time.ts";
import { LineSet } from "./line_set.ts";
import type { VendorBatch } from "./vendor_batch.ts";
import { batchIdIn, batchIdsFrom, type BatchRecord, isEnded, type LineTask, type SettledLine } from "./batch.ts";

/** The kinds of jobs; each has a batch's id as its `ref`. `batch_clean` removes what only a run needs. */
export type BatchJobKind = "batch_run" | "batch_clean";

/** Whose batches are listed. */
export type BatchOwner = Pick<BatchRecord, "keyId" | "protocol">;

/** A page of batches: those after one or those before one, of the newest first. */
export interface OwnBatchPage {
  readonly after: string | null;
  /** Not together with `after`. */
  readonly before?: string | null;
  readonly limit: number;
}

/** A batch as read. */
export type BatchEntry = Entry<BatchRecord>;

const batchKey = (id: string): Key => ["batch", "batch", id];
/** The batches of a key in order of creation. */
const ownPrefix = ({ keyId, protocol = "default" }: BatchOwner): Key => [
  "batch",
  protocol === "default" ? "own" : `own_${protocol}`,
  keyId,
];
const accountPrefix = (account: string): Key => ["batch", "account", account];
/** Batches that have not ended, by account, with the bytes of their lines. Earlier versions stored `true`. */
const openPrefix = (account: string): Key => ["batch", "open", account];
/** Ended batches by their end. */
const ENDED: Key = ["batch", "ended"];
const endedKey = (at: number, id: string): Key => [...ENDED, at, id];
/** The numbers of settled lines, apart from their replies, so that a run can read them quickly. */
const settledPrefix = (id: string): Key => ["batch", "settled", id];
const repliesPrefix = (id: string): Key => ["batch", "reply", id];

/** The tasks of lines that are not settled. */
const tasksPrefix = (id: string): Key => ["batch", "task", id];
/** The batches at vendors that a batch is cut into. */
const vendorPrefix = (id: string): Key => ["batch", "vendor", id];

/** Replies of one read: each has up to 40 KB. */
const REPLIES_PAGE = 50;

/** Reads a batch; null if there is none. */
export async function readBatch(store: Store, id: string): Promise<BatchEntry | null> {
  const [entry = null] = await store.get<BatchRecord>([batchKey(id)]);
  return entry;
}

/**
 * Adds a new batch to a commit, with the job that runs it unless it has ended.
 *
 * @param lineBytes The bytes of its lines, as they are stored.
 */
export function addBatch(commit: Commit, batch: BatchRecord, lineBytes: number): Commit {
  const { id, account, createdAt } = batch;
  return mergeCommits(commit, {
    check: [{ key: batchKey(id), version: null }],
    set: [
      { key: batchKey(id), value: batch },
      { key: [...ownPrefix(batch), id], value: true },
      { key: [...accountPrefix(account), id], value: true },
      isEnded(batch)
        ? { key: endedKey(batch.endedAt ?? createdAt, id), value: true }
        : { key: [...openPrefix(account), id], value: lineBytes },
    ],
    addJobs: isEnded(batch) ? [] : [{ kind: "batch_run" satisfies BatchJobKind, ref: id, dueAt: createdAt }],
  });
}

/** Adds a change of a batch to a commit. The commit fails with `conflict` if the batch changed since it was read. */
export function changeBatch(commit: Commit, { key, version, value }: BatchEntry, change: Partial<BatchRecord>): Commit {
  return mergeCommits(commit, { check: [{ key, version }], set: [{ key, value: { ...value, ...change } }] });
}

/** Adds the end of a batch to a commit, with the job that removes what only its run needed. */
export function endBatch(
  commit: Commit,
  entry: BatchEntry,
  change: Partial<BatchRecord> & { readonly endedAt: StoreTime },
): Commit {
  const { id, account } = entry.value;
  return mergeCommits(changeBatch(commit, entry, change), {
    set: [{ key: endedKey(change.endedAt, id), value: true }],
    delete: [[...openPrefix(account), id]],
    addJobs: [{ kind: "batch_clean" satisfies BatchJobKind, ref: id, dueAt: change.endedAt }],
  });
}

/** Adds to a commit that no caller finds a batch any more. Its record stays until its retention ends. */
export function hideBatch(commit: Commit, entry: BatchEntry, change: Partial<BatchRecord>): Commit {
  const { value } = entry;
  return mergeCommits(changeBatch(commit, entry, change), { delete: [[...ownPrefix(value), value.id]] });
}

/** The commit that removes an ended batch. */
export function removeBatch({ key, version, value }: BatchEntry): Commit {
  const { id, account, endedAt } = value;
  return {
    check: [{ key, version }],
    delete: [
      key,
      [...ownPrefix(value), id],
      [...accountPrefix(account), id],
      ...endedAt === null ? [] : [endedKey(endedAt, id)],
    ],
  };
}

/** Adds the reply to a line to a commit. */
export function addReply(commit: Commit, batchId: string, line: SettledLine): Commit {
  return mergeCommits(commit, {
    set: [
      { key: [...settledPrefix(batchId), line.number], value: true, isReadByKey: false },
      { key: [...repliesPrefix(batchId), line.number], value: line, isReadByKey: false },
    ],
  });
}

/**
 * The settled lines of a batch.
 *
 * @param after Only later lines. Default: all.
 */
export async function settledLines(
  store: Store,
  { id, total }: Pick<BatchRecord, "id" | "total">,
  after = 0,
): Promise<LineSet> {
  const lines = new LineSet(total);
  const prefix = settledPrefix(id);
  const options = after === 0 ? {} : { after: [...prefix, after] };
  for await (const { key } of entriesBelow(store, prefix, options)) lines.add(Number(key[key.length - 1]));
  return lines;
}

/** Adds the task of a line to a commit. The commit fails with `conflict` if the line has one already. */
export function addLineTask(commit: Commit, batchId: string, task: LineTask): Commit {
  const key = [...tasksPrefix(batchId), task.number];
  return mergeCommits(commit, { check: [{ key, version: null }], set: [{ key, value: task }] });
}

/** The commit that removes the task of a line, which is settled or ends with its batch. The task itself stays. */
export function removeLineTask(batchId: string, number: number): Commit {
  return { delete: [[...tasksPrefix(batchId), number]] };
}

/** The tasks of the lines of a batch, in the order of the lines. */
export async function lineTasksOf(store: Store, batchId: string): Promise<LineTask[]> {
  const found: LineTask[] = [];
  for await (const { value } of entriesBelow<LineTask>(store, tasksPrefix(batchId))) found.push(value);
  return found;
}

/** Whether a line has a task. */
export async function hasLineTask(store: Store, batchId: string, number: number): Promise<boolean> {
  const [entry = null] = await store.get([[...tasksPrefix(batchId), number]]);
  return entry !== null;
}

/** The replies to the lines of a batch, in the order of the lines. */
export async function* repliesOf(store: Store, batchId: string): AsyncGenerator<SettledLine> {
  const entries = entriesBelow<SettledLine>(store, repliesPrefix(batchId), { limit: REPLIES_PAGE });
  for await (const { value } of entries) yield value;
}

/** Removes up to so many replies of a batch; returns those that it removed. */
export async function removeReplies(store: Store, batchId: string): Promise<SettledLine[]> {
  const page = await store.scan<SettledLine>(repliesPrefix(batchId), { limit: REPLIES_PAGE });
  const keys = page.flatMap(({ key, value }) => [key, [...settledPrefix(batchId), value.number]]);
  await store.commit(null, { delete: keys });
  return page.map(({ value }) => value);
}

/** Adds a new or changed vendor's batch to a commit. */
export function setVendorBatch(commit: Commit, batchId: string, vendor: VendorBatch): Commit {
  return mergeCommits(commit, { set: [{ key: [...vendorPrefix(batchId), vendor.number], value: vendor }] });
}

/** Reads the vendors' batches of a batch, in the order of their numbers. */
export async function vendorBatchesOf(store: Store, batchId: string): Promise<VendorBatch[]> {
  const found: VendorBatch[] = [];
  for await (const { value } of entriesBelow<VendorBatch>(store, vendorPrefix(batchId))) found.push(value);
  return found;
}

/** Removes a vendor's batch. */
export function removeVendorBatch(batchId: string, number: number): Commit {
  return { delete: [[...vendorPrefix(batchId), number]] };
}

/** Lists the ids of a key's batches, newest first. A page before a batch has those that are next to it. */
export async function ownBatchIds(
  store: Store,
  owner: BatchOwner,
  { after, before = null, limit }: OwnBatchPage,
): Promise<string[]> {
  const prefix = ownPrefix(owner);
  const from = before ?? after;
  const entries = await store.scan(prefix, {
    after: from === null ? undefined : [...prefix, from],
    limit,
    reverse: before === null,
  });
  const ids = entries.map(({ key }) => String(key[key.length - 1]));
  return before === null ? ids : ids.toReversed();
}

/** Reads batches in the order of their ids; missing ones are left out. */
export async function readBatches(store: Store, ids: readonly string[]): Promise<BatchRecord[]> {
  if (ids.length === 0) return [];
  const entries = await store.get<BatchRecord>(ids.map(batchKey));
  return entries.flatMap((entry) => entry === null ? [] : [entry.value]);
}

/** Reads up to `limit` ids of batches that ended at an instant or before, the earliest first. */
export async function endedBatchIds(store: Store, by: number, limit: number): Promise<string[]> {
  const entries = await store.scan(ENDED, { limit });
  return entries.filter(({ key }) => Number(key[ENDED.length]) <= by).map(({ key }) => String(key[ENDED.length + 1]));
}

/** Reads up to `limit` ids of an account's batches. */
export async function batchIdsOfAccount(store: Store, account: string, limit: number): Promise<string[]> {
  const entries = await store.scan(accountPrefix(account), { limit });
  return entries.map(({ key }) => String(key[key.length - 1]));
}

/** Which batches of all accounts, or of one, are read. */
export interface BatchScan {
  /** Null for all. */
  readonly account: string | null;
  /** The id to continue after, or the instant to begin at, in Unix milliseconds. */
  readonly after: string | { readonly from: number } | { readonly before: number };
  readonly limit: number;
  /** Newest first. */
  readonly reverse: boolean;
}

/** Reads batches in order of creation. */
export async function scanBatches(
  store: Store,
  { account, after, limit, reverse }: BatchScan,
): Promise<BatchRecord[]> {
  const prefix: Key = account === null ? ["batch", "batch"] : accountPrefix(account);
  const start = typeof after === "string" ? after : batchIdsFrom("from" in after ? after.from : after.before);
  const page = { after: start === null ? undefined : [...prefix, start], limit, reverse };
  if (account === null) return (await store.scan<BatchRecord>(prefix, page)).map(({ value }) => value);
  return await readBatches(store, (await store.scan(prefix, page)).map(({ key }) => String(key[key.length - 1])));
}

/** The number of an account's batches that have not ended, at most `limit`. */
export async function countOpenBatches(store: Store, account: string, limit: number): Promise<number> {
  return (await store.scan(openPrefix(account), { limit })).length;
}

/** The bytes that the lines of an account's batches take. */
export async function lineBytesOf(store: Store, account: string): Promise<number> {
  let sum = 0;
  for await (const { value } of entriesBelow<number | true>(store, openPrefix(account))) {
    sum += value === true ? 0 : value;
  }
  return sum;
}

/** Whether a content is still needed; null for one that belongs to no batch. */
export async function isBatchContentNeeded(store: Store, name: string): Promise<boolean | null> {
  const id = batchIdIn(name);
  return id === null ? null : await readBatch(store, id) !== null;
}
