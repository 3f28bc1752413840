import type { Area } from "./keys.ts";
import { estimateBytes } from "../commit_size.ts";
import type { Key } from "../store.ts";
import type { VersionedValue } from "./transaction.ts";

/** Balances and jobs. They are small, and every commit of an account or a job reads them. */
const RECORD_AREAS: readonly Area[] = ["balance", "job"];
const MAX_RECORDS = 20_000;

/** Of callers' values with their keys. */
const MAX_CACHED_BYTES = 32 * 1024 * 1024;
const MAX_VALUE_BYTES = 4_096;
/** The approximate memory of one entry beside its key and its value. */
const ENTRY_OVERHEAD_BYTES = 200;

/**
 * Caches the values that were read or written last, and the absence of values. It is exact because this process is the
 * only writer. Only durable values are cached: an entry is removed when a write of its key begins and added when the
 * write is done. A value that a reader brings is added only if no write of the key began, or was under way, since the
 * read began. The least recently used entries are evicted first.
 */
export class ValueCache {
  readonly #records = new RecentEntries(MAX_RECORDS);
  readonly #values = new RecentEntries(MAX_CACHED_BYTES);
  /** A new one for each write: a cleared set keeps its tables as long as the first one of them. */
  #writing = new Set<string>();
  readonly #reads = new Map<string, PendingRead>();

  /** The value under an encoded key if it is cached. It must not be changed. */
  get(id: string): VersionedValue | undefined {
    return this.#records.get(id) ?? this.#values.get(id);
  }

  /** Adds a value, or its absence. Only for the writer and its own reads; other readers use {@linkcode beginRead}. */
  put(id: string, key: Key, value: VersionedValue): void {
    if (RECORD_AREAS.some((area) => area === key[0])) return this.#records.put(id, value, 1);
    const bytes = key[0] === "value" ? estimateBytes(value.value) : Infinity;
    if (bytes <= MAX_VALUE_BYTES) this.#values.put(id, value, bytes + id.length + ENTRY_OVERHEAD_BYTES);
  }

  /** Must be called before keys are written. */
  beginWrite(ids: Iterable<string>): void {
    for (const id of ids) {
      this.#values.delete(id);
      this.#reads.delete(id);
      this.#writing.add(id);
    }
  }

  /** Must be called after that write, also when it failed. */
  endWrite(): void {
    this.#writing = new Set();
  }

  /** Must be called before keys are read other than by the writer. */
  beginRead(ids: readonly string[]): PendingRead {
    const reading: PendingRead = { ids };
    for (const id of ids) if (!this.#writing.has(id)) this.#reads.set(id, reading);
    return reading;
  }

  /** Adds what was read: `keys` and `values` in the order of the ids; no values when the read failed. */
  endRead(reading: PendingRead, keys: readonly Key[], values: readonly VersionedValue[]): void {
    reading.ids.forEach((id, i) => {
      if (this.#reads.get(id) !== reading) return;
      this.#reads.delete(id);
      const [key, value] = [keys[i], values[i]];
      if (key !== undefined && value !== undefined) this.put(id, key, value);
    });
  }

  /** Removes everything, after a write with an unknown outcome. */
  clear(): void {
    this.#records.clear();
    this.#values.clear();
  }
}

/** A read under way. */
export interface PendingRead {
  readonly ids: readonly string[];
}

interface CacheEntry {
  readonly value: VersionedValue;
  readonly weight: number;
  /** Whether it was read since it was added or last kept by an eviction. */
  isUsed: boolean;
}

/**
 * Entries up to a total weight. The oldest entry is evicted first, but one that was read meanwhile is kept once (CLOCK,
 * also called second chance). That approximates the order of use without moving an entry at each read.
 */
class RecentEntries {
  readonly #entries = new Map<string, CacheEntry>();
  readonly #maxWeight: number;
  #weight = 0;

  constructor(maxWeight: number) {
    this.#maxWeight = maxWeight;
  }

  get(id: string): VersionedValue | undefined {
    const entry = this.#entries.get(id);
    if (entry === undefined) return undefined;
    entry.isUsed = true;
    return entry.value;
  }

  put(id: string, value: VersionedValue, weight: number): void {
    this.delete(id);
    this.#entries.set(id, { value, weight, isUsed: false });
    this.#weight += weight;
    while (this.#weight > this.#maxWeight) this.#evictOldest();
  }

  delete(id: string): void {
    const entry = this.#entries.get(id);
    if (entry === undefined) return;
    this.#entries.delete(id);
    this.#weight -= entry.weight;
  }

  clear(): void {
    this.#entries.clear();
    this.#weight = 0;
  }

  #evictOldest(): void {
    for (const [id, entry] of this.#entries) {
      this.#entries.delete(id);
      if (!entry.isUsed) {
        this.#weight -= entry.weight;
        return;
      }
      entry.isUsed = false;
      this.#entries.set(id, entry);
    }
  }
}
