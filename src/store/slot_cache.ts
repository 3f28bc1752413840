import type { Slot } from "./draft.ts";
import type { Area } from "./keys.ts";
import { roughBytesOf } from "./limits.ts";
import type { Key } from "./store.ts";

/** Balances and jobs: small, and read by every commit of an account or a job. */
const RECORD_AREAS: readonly Area[] = ["balance", "job"];
const MOST_RECORDS = 20_000;

/** Callers' values. Together they take some tens of megabytes at most. */
const MOST_VALUES = 4_000;
const LARGEST_VALUE_BYTES = 4_096;

/**
 * What was read or written last, so that hot keys are not read again. It holds because this process is the only writer, and
 * because what it tells is durable: a value is forgotten when a write of it begins and known again when that is done. What
 * a reader of the database brings is taken only if no write of that key began or was under way since the reader set out.
 * The least recently used goes first.
 */
export class SlotCache {
  readonly #records = new RecentSlots(MOST_RECORDS);
  readonly #values = new RecentSlots(MOST_VALUES);
  readonly #writing = new Set<string>();
  readonly #reads = new Map<string, Reading>();

  /** What stands under an encoded key, if that is known. Not to be changed. */
  get(id: string): Slot | undefined {
    return this.#records.get(id) ?? this.#values.get(id);
  }

  /** Notes what stands under a key, also that nothing does. Only for the writer, and for what it reads itself. */
  put(id: string, key: Key, slot: Slot): void {
    if (RECORD_AREAS.includes(key[0] as Area)) this.#records.put(id, slot);
    else if (key[0] === "value" && isSmall(slot.value)) this.#values.put(id, slot);
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
  beginRead(ids: readonly string[]): Reading {
    const reading: Reading = { ids };
    for (const id of ids) if (!this.#writing.has(id)) this.#reads.set(id, reading);
    return reading;
  }

  /** Takes what was read; `slots` in the order of the ids, nothing when the read failed. */
  endRead(reading: Reading, keys: readonly Key[], slots: readonly Slot[]): void {
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
export interface Reading {
  readonly ids: readonly string[];
}

function isSmall(value: unknown): boolean {
  return roughBytesOf(value) <= LARGEST_VALUE_BYTES;
}

class RecentSlots {
  readonly #slots = new Map<string, Slot>();
  readonly #most: number;

  constructor(most: number) {
    this.#most = most;
  }

  get(id: string): Slot | undefined {
    const slot = this.#slots.get(id);
    if (slot) this.put(id, slot);
    return slot;
  }

  put(id: string, slot: Slot): void {
    this.#slots.delete(id);
    this.#slots.set(id, slot);
    if (this.#slots.size <= this.#most) return;
    for (const oldest of this.#slots.keys()) {
      this.#slots.delete(oldest);
      return;
    }
  }

  delete(id: string): void {
    this.#slots.delete(id);
  }

  clear(): void {
    this.#slots.clear();
  }
}
