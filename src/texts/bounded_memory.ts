import type { Clock } from "../lib/clock.ts";

interface Kept<V> {
  readonly value: V;
  readonly until: number;
  readonly characters: number;
}

const KEPT_MS = 6 * 3_600_000;
const MAX_CHARACTERS = 64_000_000;
/** What an entry takes beside its key and value. */
const ENTRY_CHARACTERS = 128;

/** Values that are kept for a while, by their keys. */
export interface KeptValues<V> {
  /** Whether nothing was kept, or nothing is any more. */
  readonly isEmpty: boolean;
  /** Keeps a value in the place of the one before, with what counts of it. */
  put(key: string, value: V, characters: number): void;
  /** Null when it was not kept, or not any more. */
  find(key: string): V | null;
}

/** What is kept in memory for six hours, at most 64 million characters; the oldest goes first. */
export class BoundedMemory<V> implements KeptValues<V> {
  readonly #clock: Clock;
  readonly #kept = new Map<string, Kept<V>>();
  #characters = 0;

  /** Begins empty. */
  constructor(clock: Clock) {
    this.#clock = clock;
  }

  /** Whether nothing was kept, or nothing is any more. */
  get isEmpty(): boolean {
    return this.#kept.size === 0;
  }

  /** Keeps a value in the place of the one before, with what counts of it. */
  put(key: string, value: V, characters: number): void {
    this.#drop(key);
    // The key holds ids of the vendor's choice, which are of any length.
    const counted = characters + key.length + ENTRY_CHARACTERS;
    this.#kept.set(key, { value, until: this.#clock.monotonicMs() + KEPT_MS, characters: counted });
    this.#characters += counted;
    for (const oldest of this.#kept.keys()) {
      if (this.#characters <= MAX_CHARACTERS) break;
      this.#drop(oldest);
    }
  }

  /** Null when it was not kept, or not any more. */
  find(key: string): V | null {
    const kept = this.#kept.get(key);
    if (kept === undefined) return null;
    if (kept.until > this.#clock.monotonicMs()) return kept.value;
    this.#drop(key);
    return null;
  }

  #drop(key: string): void {
    this.#characters -= this.#kept.get(key)?.characters ?? 0;
    this.#kept.delete(key);
  }
}
