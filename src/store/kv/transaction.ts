import type { CommitSize } from "../commit_size.ts";
import { encodeKey } from "./keys.ts";
import type { Key, Version } from "../store.ts";

/**
 * What stands under a key. `version` null: nothing; `UNWRITTEN`: what an earlier commit of the same batch put there.
 */
export interface VersionedValue {
  readonly value: unknown;
  readonly version: Version | null;
}

/** The version of a value that has none yet, as its batch is still to be written. Equal to no version of a reader. */
const PENDING_VERSION: Version = "";

/** A key that a decision reads. */
export interface ReadKey {
  /** The key, encoded. */
  readonly id: string;
  readonly key: Key;
  /** Almost always absent, so that it is first only checked to be, and read when that fails. */
  readonly isAssumedAbsent: boolean;
}

/** A key as a batch read it. */
export interface LoadedValue extends VersionedValue {
  readonly key: Key;
  /** Nothing was read: absence is presumed, and checked when the batch is written. */
  readonly isAssumed: boolean;
}

/** A change that a batch makes. */
export interface Change {
  /** The key, encoded. */
  readonly id: string;
  readonly key: Key;
  /** The new value; null: the key goes. */
  readonly put: { readonly value: unknown; readonly collectAfterMs?: number } | null;
}

/** A kind of job and when one of it is due. */
export interface DueTime {
  readonly kind: string;
  readonly dueAt: number;
}

/** Gives the version that a change has after its batch is durable. */
export type VersionOf = (change: Change) => Version;

/** Something to decide and write within a batch. */
export interface Transaction<R> {
  readonly reads: readonly ReadKey[];
  readonly size: CommitSize;
  /**
   * Reads and writes the draft. The writes are dropped unless `accepted`. `result` is called once the batch is durable.
   */
  decide(draft: WriteSet): { readonly accepted: boolean; readonly result: (versionOf: VersionOf) => R };
}

/** The state that the proposals of one batch see, each after those before it. */
export class Batch {
  readonly #loaded: ReadonlyMap<string, LoadedValue>;
  readonly changes = new Map<string, Change>();
  readonly due: DueTime[] = [];

  /** @param loaded Every key that a proposal of the batch touches, by its encoding. */
  constructor(loaded: ReadonlyMap<string, LoadedValue>) {
    this.#loaded = loaded;
  }

  /** What stands under an encoded key by now. */
  slot(id: string): LoadedValue {
    const loaded = this.#loaded.get(id);
    if (!loaded) throw new Error("Cannot decide by a key that the proposal did not name");
    const change = this.changes.get(id);
    return change ? slotOf(change) : loaded;
  }
}

/** The writes of one proposal, over those of the batch so far. */
export class WriteSet {
  readonly #batch: Batch;
  readonly #changes = new Map<string, Change>();
  readonly #due: DueTime[] = [];

  /** @param batch What was decided before. */
  constructor(batch: Batch) {
    this.#batch = batch;
  }

  /** What stands under a key. */
  read(key: Key): VersionedValue {
    const id = encodeKey(key);
    const change = this.#changes.get(id);
    if (change) return slotOf(change);
    return this.#batch.slot(id);
  }

  /** Puts a value. `collectAfterMs`: the engine may throw it away by then; no reader relies on it. */
  put(key: Key, value: unknown, collectAfterMs?: number): Change {
    const id = encodeKey(key);
    const change = { id, key, put: { value, ...(collectAfterMs !== undefined && { collectAfterMs }) } };
    this.#changes.set(id, change);
    return change;
  }

  /** Takes a key away. */
  remove(key: Key): void {
    const id = encodeKey(key);
    this.#changes.set(id, { id, key, put: null });
  }

  /** Notes that a job will be due, for the alarm. */
  wakeAt(due: DueTime): void {
    this.#due.push(due);
  }

  /** Makes the writes part of the batch. */
  accept(): void {
    for (const [id, change] of this.#changes) this.#batch.changes.set(id, change);
    this.#batch.due.push(...this.#due);
  }
}

function slotOf(change: Change): LoadedValue {
  const version = change.put ? PENDING_VERSION : null;
  return { key: change.key, value: change.put?.value, version, isAssumed: false };
}
