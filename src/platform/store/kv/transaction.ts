import { appendAll } from "../../lib/collections/append_all.ts";
import type { CommitSize } from "../commit_size.ts";
import { encodeKey } from "../key_encoding.ts";
import type { Key, Version } from "../store.ts";
import type { DueTime } from "../wake_listeners.ts";

/**
 * A value and its version. `version` is null if there is no value, and {@linkcode PENDING_VERSION} if an earlier
 * transaction of the same batch wrote it.
 */
export interface VersionedValue {
  readonly value: unknown;
  readonly version: Version | null;
}

/** The version of a value whose batch is not written yet. No reader ever gets it. */
const PENDING_VERSION: Version = "";

/** A key that a transaction reads. */
export interface ReadKey {
  /** The encoded key. */
  readonly id: string;
  readonly key: Key;
  /** Whether the key is almost always absent: then it is first only checked for absence, and read if that fails. */
  readonly isAssumedAbsent: boolean;
}

/** A value as a batch read it. */
export interface LoadedValue extends VersionedValue {
  readonly key: Key;
  /** Whether the key was not read: its absence is assumed, and checked when the batch is written. */
  readonly isAssumed: boolean;
}

/** How a value is written. */
export interface PutOptions {
  /** The engine may remove it after this time, so readers check the expiry themselves. Default: it stays. */
  readonly collectAfterMs?: number;
  /** Whether it may be cached. Default: true. */
  readonly isCached?: boolean;
}

/** A change that a batch writes. */
export interface Change {
  /** The encoded key. */
  readonly id: string;
  readonly key: Key;
  /** The new value; null deletes the key. */
  readonly put: ({ readonly value: unknown } & PutOptions) | null;
}

/** Returns the version of a change after its batch is durable. */
export type VersionOf = (change: Change) => Version;

/** A decision on values, and the writes that follow from it. */
export interface Transaction<R> {
  readonly reads: readonly ReadKey[];
  readonly size: CommitSize;
  /**
   * Reads and writes through the write set. The writes are dropped unless `accepted`. `result` is called once the batch
   * is durable.
   */
  decide(writes: WriteSet): { readonly accepted: boolean; readonly result: (versionOf: VersionOf) => R };
}

/** The changes of one batch; each transaction sees those of the transactions before it. */
export class Batch {
  readonly #loaded: ReadonlyMap<string, LoadedValue>;
  readonly changes = new Map<string, Change>();
  readonly due: DueTime[] = [];

  /** @param loaded All keys that the transactions of the batch read, by encoded key. */
  constructor(loaded: ReadonlyMap<string, LoadedValue>) {
    this.#loaded = loaded;
  }

  /** The current value under an encoded key. */
  get(id: string): LoadedValue {
    const loaded = this.#loaded.get(id);
    if (!loaded) throw new Error("Cannot decide by a key that the proposal did not name");
    const change = this.changes.get(id);
    return change ? loadedValueOf(change) : loaded;
  }
}

/** The changes of one transaction, on top of those of its batch. */
export class WriteSet {
  readonly #batch: Batch;
  readonly #changes = new Map<string, Change>();
  readonly #due: DueTime[] = [];

  /** @param batch The changes of the transactions before. */
  constructor(batch: Batch) {
    this.#batch = batch;
  }

  /** The current value under a key. */
  read(key: Key): VersionedValue {
    const id = encodeKey(key);
    const change = this.#changes.get(id);
    if (change) return loadedValueOf(change);
    return this.#batch.get(id);
  }

  /** Sets a value. */
  put(key: Key, value: unknown, options: PutOptions = {}): Change {
    const id = encodeKey(key);
    const change = { id, key, put: { value, ...options } };
    this.#changes.set(id, change);
    return change;
  }

  /** Deletes a key. */
  remove(key: Key): void {
    const id = encodeKey(key);
    this.#changes.set(id, { id, key, put: null });
  }

  /** Records that a job will be due. */
  wakeAt(due: DueTime): void {
    this.#due.push(due);
  }

  /** Adds the changes to the batch. */
  accept(): void {
    for (const [id, change] of this.#changes) this.#batch.changes.set(id, change);
    appendAll(this.#batch.due, this.#due);
  }
}

function loadedValueOf(change: Change): LoadedValue {
  const version = change.put ? PENDING_VERSION : null;
  return { key: change.key, value: change.put?.value, version, isAssumed: false };
}
