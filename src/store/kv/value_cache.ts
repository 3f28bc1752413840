import type { VersionedValue } from "./transaction.ts";
import type { Area } from "./keys.ts";
import { estimateBytes } from "../commit_size.ts";
import type { Key } from "../store.ts";

/** Balances and jobs: small, and read by every commit of an account or a job. */
const RECORD_AREAS: readonly Area[] = ["balance", "job"];
const MOST_RECORDS = 20_000;

/** Callers' values, keys included. */
const MOST_VALUE_BYTES = 32 * 1024 * 1024;
const LARGEST_VALUE_BYTES = 4_096;
/** What a slot takes beside its key and its value, roughly. */
const SLOT_BYTES = 200;

/**
 * What was read or written last, so that hot keys are not read again. It holds because this process is the only writer,
 * and because what it tells is durable: a value is forgotten when a write of it begins and known again when that is
 * done. What a reader of the database brings is taken only if no write of that key began or was under way since the
 * reader set out. What was used least recently goes first.
 */
export class ValueCache {
  readonly #records = new RecentSlots(MOST_RECORDS);
  readonly #values = new RecentSlots(MOST_VALUE_BYTES);
  readonly #writing = new Set<string>();
  readonly #reads = new Map<string, PendingRead>();

  /** What stands under an encoded key, if that is known. Not to be changed. */
  get(id: string): VersionedValue | undefined {
    return this.#records.get(id) ?? this.#values.get(id);
  }

  /** Notes what stands under a key, also that nothing does. Only for the writer, and for what it reads itself. */
  put(id: string, key: Key, slot: VersionedValue): void {
    if (RECORD_AREAS.includes(key[0] as Area)) return this.#records.put(id, slot, 1);
    const bytes = key[0] === "value" ? estimateBytes(slot.value) : Infinity;
    if (bytes <= LARGEST_VALUE_BYTES) this.#values.put(id, slot, bytes + id.length + SLOT_BYTES);
  }

  /** Called before keys are written. */
  beginWrite(ids: Iterable<string>): void {
    for (const id of ids) {
      this.#values.delete(id);
      this.#reads.delete(id);
      this.#writing.add(id);
    }
  }

  /** Called when that write is over, however it ended. */
  endWrite(): void {
    this.#writing.clear();
  }

  /** Called before keys are read from the database by somebody else than the writer. */
  beginRead(ids: readonly string[]): PendingRead {
    const reading: PendingRead = { ids };
    for (const id of ids) if (!this.#writing.has(id)) this.#reads.set(id, reading);
    return reading;
  }

  /** Takes what was read; `slots` in the order of the ids, nothing when the read failed. */
  endRead(reading: PendingRead, keys: readonly Key[], slots: readonly VersionedValue[]): void {
    reading.ids.forEach((id, i) => {
      if (this.#reads.get(id) !== reading) return;
      this.#reads.delete(id);
      if (i < slots.length) this.put(id, keys[i], slots[i]);
    });
  }

  /** Forgets everything, after a write whose outcome is not known. */
  clear(): void {
    this.#records.clear();
    this.#values.clear();
  }
}

/** A read under way. */
export interface PendingRead {
  readonly ids: readonly string[];
}

interface Weighed {
  readonly slot: VersionedValue;
  readonly weight: number;
  /** It was asked for since it was put in or last spared. */
  isUsed: boolean;
}

/**
 * Slots up to a weight. The oldest goes first, but one that was asked for meanwhile is spared once: that is nearly the
 * order of use, without moving an entry each time it is asked for.
 */
class RecentSlots {
  readonly #slots = new Map<string, Weighed>();
  readonly #most: number;
  #weight = 0;

  constructor(most: number) {
    this.#most = most;
  }

  get(id: string): VersionedValue | undefined {
    const weighed = this.#slots.get(id);
    if (weighed === undefined) return undefined;
    weighed.isUsed = true;
    return weighed.slot;
  }

  put(id: string, slot: VersionedValue, weight: number): void {
    this.delete(id);
    this.#slots.set(id, { slot, weight, isUsed: false });
    this.#weight += weight;
    while (this.#weight > this.#most) this.#dropOldest();
  }

  delete(id: string): void {
    const weighed = this.#slots.get(id);
    if (weighed === undefined) return;
    this.#slots.delete(id);
    this.#weight -= weighed.weight;
  }

  clear(): void {
    this.#slots.clear();
    this.#weight = 0;
  }

  #dropOldest(): void {
    for (const [id, weighed] of this.#slots) {
      this.#slots.delete(id);
      if (!weighed.isUsed) {
        this.#weight -= weighed.weight;
        return;
      }
      weighed.isUsed = false;
      this.#slots.set(id, weighed);
    }
  }
}
