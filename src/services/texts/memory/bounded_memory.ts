import type { Clock } from "../../../platform/lib/basics/clock.ts";

interface Kept<V> {
  readonly value: V;
  readonly until: number;
  readonly characters: number;
}

const KEPT_MS = 6 * 3_600_000;
const MAX_CHARACTERS = 64_000_000;
/** The overhead of an entry beside its key and value. */
const ENTRY_CHARACTERS = 128;

/** Values that are kept for a limited time, by key. */
export interface KeptValues<V> {
  /** Whether no value is kept. */
  readonly isEmpty: boolean;
  /** Stores a value, replacing the previous one, with the number of characters that it counts as. */
  put(key: string, value: V, characters: number): void;
  /** Returns a value, or null if it is not kept or has expired. */
  find(key: string): V | null;
  /**
   * Reads values that other processes have kept, so that they are found. Null if there are none to read. Never rejects.
   * Absent if no other process keeps any.
   */
  load?(keys: readonly string[]): Promise<void> | null;
}

/**
 * Keeps values in memory for six hours, at most 64 million characters. The oldest are removed first. A key begins with
 * the id of the account that it belongs to, and a space.
 */
export class BoundedMemory<V> implements KeptValues<V> {
  readonly #clock: Clock;
  readonly #kept = new Map<string, Kept<V>>();
  #characters = 0;

  /** Creates an empty memory. */
  constructor(clock: Clock) {
    this.#clock = clock;
  }

  /** Whether no value is kept. */
  get isEmpty(): boolean {
    return this.#kept.size === 0;
  }

  /** Stores a value, replacing the previous one, with the number of characters that it counts as. */
  put(key: string, value: V, characters: number): void {
    this.#drop(key);
    // The key contains ids from the vendor, which may have any length.
    const counted = characters + key.length + ENTRY_CHARACTERS;
    this.#kept.set(key, { value, until: this.#clock.monotonicMs() + KEPT_MS, characters: counted });
    this.#characters += counted;
    for (const oldest of this.#kept.keys()) {
      if (this.#characters <= MAX_CHARACTERS) break;
      this.#drop(oldest);
    }
  }

  /** Returns a value, or null if it is not kept or has expired. */
  find(key: string): V | null {
    const kept = this.#kept.get(key);
    if (kept === undefined) return null;
    if (kept.until > this.#clock.monotonicMs()) return kept.value;
    this.#drop(key);
    return null;
  }

  /** Removes every value of an account. Returns their number. */
  removeAccount(accountId: string): number {
    const own = [...this.#kept.keys()].filter((key) => key.startsWith(`${accountId} `));
    for (const key of own) this.#drop(key);
    return own.length;
  }

  #drop(key: string): void {
    this.#characters -= this.#kept.get(key)?.characters ?? 0;
    this.#kept.delete(key);
  }
}
