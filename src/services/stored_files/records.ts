import { mergeCommits } from "../../money/billing/accounts/records.ts";
import { appendAll } from "../../platform/lib/collections/append_all.ts";
import { entriesBelow } from "../../platform/store/entries_below.ts";
import type { Commit, Entry, Key, Store } from "../../platform/store/store.ts";
import { type FilePurpose, ownerOfName, type StoredFileRecord, type UploadRecord } from "./stored_file.ts";

const fileKey = (id: string): Key => ["stored_file", "file", id];
const uploadKey = (id: string): Key => ["stored_file", "upload", id];
/** The files of a key in order of creation, all of them or those of one purpose. Each entry has the whole record. */
const ownPrefix = (keyId: string, purpose: FilePurpose | null): Key =>
  purpose === null ? ["stored_file", "own", keyId] : ["stored_file", "own_by", keyId, purpose];
/** The files and uploads of all accounts, with the bytes that each takes of its account's room. */
export const ACCOUNT_FILES: Key = ["stored_file", "account"];
const accountPrefix = (account: string): Key => [...ACCOUNT_FILES, account];
/** Files and uploads by the time of their end. */
const ENDS: Key = ["stored_file", "end"];
const endKey = (at: number, id: string): Key => [...ENDS, at, id];

/** A page of a key's files. */
export interface FileListRequest {
  /** Null for all. */
  readonly purpose: FilePurpose | null;
  /** The id to continue after; null for the first page. */
  readonly after: string | null;
  readonly limit: number;
  /** Newest first. */
  readonly reverse: boolean;
}

/** The number of records that one read lists. */
const SCAN_ENTRIES = 500;

/** Reads a file's record; null if there is none. */
export async function readFileRecord(store: Store, id: string): Promise<Entry<StoredFileRecord> | null> {
  const [entry = null] = await store.get<StoredFileRecord>([fileKey(id)]);
  return entry;
}

/** Reads an upload; null if there is none. */
export async function readUpload(store: Store, id: string): Promise<Entry<UploadRecord> | null> {
  const [entry = null] = await store.get<UploadRecord>([uploadKey(id)]);
  return entry;
}

/** The commit that adds a file. */
export function addFile(file: StoredFileRecord): Commit {
  return {
    check: [{ key: fileKey(file.id), version: null }],
    set: placesOf(file).map(({ key, value }) => ({ key, value })),
  };
}

/** The commit that removes a file as it was read. */
export function removeFile({ key, version, value }: Entry<StoredFileRecord>): Commit {
  return { check: [{ key, version }], delete: placesOf(value).map((place) => place.key) };
}

function placesOf(file: StoredFileRecord): { readonly key: Key; readonly value: unknown }[] {
  const { id, account, keyId, purpose, expiresAt } = file;
  return [
    { key: fileKey(id), value: file },
    { key: [...ownPrefix(keyId, null), id], value: file },
    { key: [...ownPrefix(keyId, purpose), id], value: file },
    { key: [...accountPrefix(account), id], value: file.bytes },
    ...expiresAt === null ? [] : [{ key: endKey(expiresAt, id), value: true }],
  ];
}

/** The commit that adds an upload. */
export function addUpload(upload: UploadRecord): Commit {
  const { id, account, expiresAt } = upload;
  return {
    check: [{ key: uploadKey(id), version: null }],
    set: [
      { key: uploadKey(id), value: upload },
      { key: [...accountPrefix(account), id], value: upload.bytes },
      { key: endKey(expiresAt, id), value: true },
    ],
  };
}

/** The commit that ends an upload as it was read. From then on it takes no room of the account. */
export function endUpload(
  entry: Entry<UploadRecord>,
  change: Pick<UploadRecord, "status"> & Partial<UploadRecord>,
): Commit {
  const { id, account } = entry.value;
  const room = { key: [...accountPrefix(account), id], value: 0 };
  return mergeCommits(changeUpload(entry, change), { set: [room] });
}

/** The commit that changes an upload as it was read. */
export function changeUpload({ key, version, value }: Entry<UploadRecord>, change: Partial<UploadRecord>): Commit {
  return { check: [{ key, version }], set: [{ key, value: { ...value, ...change } }] };
}

/** The commit that removes an upload as it was read. */
export function removeUpload({ key, version, value: { id, account, expiresAt } }: Entry<UploadRecord>): Commit {
  return {
    check: [{ key, version }],
    delete: [key, [...accountPrefix(account), id], endKey(expiresAt, id)],
  };
}

/** Lists a key's files. */
export async function listFileRecords(
  store: Store,
  keyId: string,
  { purpose, after, limit, reverse }: FileListRequest,
): Promise<StoredFileRecord[]> {
  const prefix = ownPrefix(keyId, purpose);
  const files: StoredFileRecord[] = [];
  let place = after === null ? undefined : [...prefix, after];
  // Ends with the last file or a full page.
  while (files.length < limit) {
    const count = Math.min(limit - files.length, SCAN_ENTRIES);
    const entries = await store.scan<StoredFileRecord>(prefix, { after: place, limit: count, reverse });
    appendAll(files, entries.map(({ value }) => value));
    if (entries.length < count) break;
    place = entries[entries.length - 1]?.key.slice();
  }
  return files;
}

/** Reads up to `limit` ids of files and uploads whose end is not after an instant, the earliest first. */
export async function endedIds(store: Store, by: number, limit: number): Promise<string[]> {
  const entries = await store.scan(ENDS, { limit });
  return entries.filter(({ key }) => Number(key[ENDS.length]) <= by).map(({ key }) => String(key[ENDS.length + 1]));
}

/** The bytes that an account's files and open uploads take. */
export async function bytesOfAccount(store: Store, account: string): Promise<number> {
  let sum = 0;
  for await (const { value } of entriesBelow<number>(store, accountPrefix(account))) sum += value;
  return sum;
}

/** Reads up to `limit` ids of an account's files and uploads. */
export async function idsOfAccount(store: Store, account: string, limit: number): Promise<string[]> {
  const entries = await store.scan(accountPrefix(account), { limit });
  return entries.map(({ key }) => String(key[key.length - 1]));
}

/**
 * Whether the content of this name has a record. A process may end between the write of a content and that of its
 * record.
 *
 * @returns Null for a name that is none of a stored file.
 */
export async function hasStoredRecord(store: Store, name: string): Promise<boolean | null> {
  const owner = ownerOfName(name);
  if (owner === null) return null;
  if ("fileId" in owner) return await readFileRecord(store, owner.fileId) !== null;
  const upload = (await readUpload(store, owner.uploadId))?.value;
  return upload?.status === "pending" && upload.parts.some(({ id }) => id === owner.partId);
}
