import { createHash } from "node:crypto";
import { gunzipSync, gzipSync } from "node:zlib";
import type { PriceBook } from "../catalog/sourced_model.ts";
import { concatBytes } from "../../platform/lib/bytes/concat_bytes.ts";
import { mergeCommits } from "../../money/billing/accounts/records.ts";
import type { Commit, CommitResult, Key, Store, Version } from "../../platform/store/store.ts";
import type { PendingChange } from "./price_changes.ts";

/** The prices of a source, and the changes that wait for a person. */
export interface PriceLists {
  readonly book: PriceBook;
  readonly pending: readonly PendingChange[];
}

/** What is known of a price source. */
export interface PriceState {
  /** Changes with every change of the lists; 1 for the first. */
  readonly revision: number;
  /** As in the configuration. */
  readonly source: string;
  /** The vendors whose prices were read. */
  readonly families: readonly string[];
  /** The validators of the last answer; null if it had none. */
  readonly etag: string | null;
  readonly lastModified: string | null;
  /** The last time at which the source could be read. Unix milliseconds. */
  readonly readAt: number;
  /** When the prices take effect, for requests that begin then or later. Unix milliseconds. */
  readonly from: number;
  /** Why the last attempt failed, and when; null if it did not. */
  readonly failure: { readonly at: number; readonly reason: string } | null;
  readonly parts: number;
  readonly hash: string;
}

/** The state with its version in the store, and its lists. */
export interface StoredPrices {
  readonly version: Version;
  readonly state: PriceState;
}

const STATE: Key = ["prices", "state"];
const LISTS: Key = ["prices", "lists"];
/** For the key and the encoding of a part. */
const ENVELOPE_BYTES = 1_024;

/** The state of the price source; null if none was ever read. */
export async function readPriceState(store: Pick<Store, "get">): Promise<StoredPrices | null> {
  const [entry] = await store.get<PriceState>([STATE]);
  return entry ? { version: entry.version, state: entry.value } : null;
}

/** The lists of a state; null if another gateway has replaced them meanwhile. */
export async function readPriceLists(
  store: Pick<Store, "get">,
  { revision, parts, hash }: PriceState,
): Promise<PriceLists | null> {
  const keys = Array.from({ length: parts }, (_, index) => partKey(revision, index));
  const found = await store.get<Uint8Array>(keys);
  const text = new TextDecoder().decode(gunzip(concatBytes(found.map((entry) => entry?.value ?? new Uint8Array()))));
  return hashOf(text) === hash ? JSON.parse(text) : null;
}

/**
 * Stores a state, and its lists if they changed, in one commit.
 *
 * @param lists Null if they are those of the state before.
 * @param announcement What is committed with them. Default: nothing.
 * @returns What was stored; null if another gateway has stored one meanwhile.
 * @throws {RangeError} If the lists exceed the store's limits.
 */
export async function writePrices(
  store: Pick<Store, "commit" | "limits">,
  before: StoredPrices | null,
  { state, lists, announcement = null }: {
    readonly state: Omit<PriceState, "parts" | "hash">;
    readonly lists: PriceLists | null;
    readonly announcement?: Commit | null;
  },
): Promise<StoredPrices | null> {
  const check = [{ key: STATE, version: before?.version ?? null }];
  if (lists === null) {
    const { parts = 0, hash = "" } = before?.state ?? {};
    const value: PriceState = { ...state, parts, hash };
    return storedBy(await store.commit(null, { check, set: [{ key: STATE, value }] }), value);
  }
  const text = JSON.stringify(lists);
  const bytes = gzipSync(text);
  const partBytes = store.limits.maxValueBytes - ENVELOPE_BYTES;
  const parts = Math.ceil(bytes.length / partBytes);
  const value: PriceState = { ...state, parts, hash: hashOf(text) };
  const set = Array.from({ length: parts }, (_, index) => ({
    key: partKey(state.revision, index),
    value: new Uint8Array(bytes.subarray(index * partBytes, (index + 1) * partBytes)),
  }));
  const { revision = 0, parts: partsBefore = 0 } = before?.state ?? {};
  const surplus = Array.from({ length: partsBefore }, (_, index) => partKey(revision, index));
  const commit: Commit = { check, set: [{ key: STATE, value }, ...set], delete: surplus };
  return storedBy(await store.commit(null, mergeCommits(commit, announcement ?? {})), value);
}

/** The state is the first value of a commit. */
function storedBy(result: CommitResult, state: PriceState): StoredPrices | null {
  const version = result.ok && !result.replayed ? result.versions[0] : undefined;
  return version === undefined ? null : { version, state };
}

function partKey(revision: number, index: number): Key {
  return [...LISTS, revision, index];
}

/** An empty text for what is no gzip, as while another gateway writes. */
function gunzip(bytes: Uint8Array<ArrayBuffer>): Uint8Array {
  try {
    return gunzipSync(bytes);
  } catch {
    return new Uint8Array();
  }
}

function hashOf(text: string): string {
  return createHash("sha256").update(text).digest("hex");
}
