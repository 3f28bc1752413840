import { randomUUID } from "node:crypto";
import type { Commit, Store } from "../store/store.ts";
import { type KeyCount, keyCountKey, keyCountsOf } from "./records.ts";

const HOUR_MS = 3_600_000;
/** Counts are kept a little longer than the keys that they count. */
const TTL_MS = 25 * HOUR_MS;
const HOURS = 24;
/** The counts that are read of one account: 24 hours of 40 threads. */
const MAX_COUNTS = 1_000;
const MAX_ACCOUNTS = 10_000;

interface OwnCount {
  /** Names the count of this hour, so that no other thread or process writes the same one. */
  readonly counter: string;
  readonly hour: number;
  keys: number;
  bytes: number;
}

/**
 * Counts the keys and the bytes that accounts have used in 24 hours. Each thread writes counts of its own, so that
 * requests that run side by side do not change the same value. Requests of several threads or processes that run side
 * by side may pass a limit together, by what they have under way.
 */
export class KeyCounts {
  readonly #own = new Map<string, OwnCount>();

  constructor(private readonly store: Pick<Store, "scan" | "now">) {}

  /**
   * Counts what a request is going to use, unless its account would exceed a limit within 24 hours. Nothing is awaited
   * between the comparison and the count, so that the requests of a thread cannot pass the limit together. What is not
   * used must be given back by {@linkcode KeyCounts.add}.
   *
   * @returns Whether it was counted.
   */
  async take(account: string, use: Partial<KeyCount>, most: Partial<KeyCount>): Promise<boolean> {
    const entries = await this.store.scan<KeyCount>(keyCountsOf(account), { limit: MAX_COUNTS });
    // What requests of this thread count meanwhile is in `own`.
    const own = this.#countOf(account);
    const oldest = this.#hour - HOURS;
    let [keys, bytes] = [own.keys + (use.keys ?? 0), own.bytes + (use.bytes ?? 0)];
    for (const { key, value } of entries) {
      const [hour, counter] = key.slice(-2);
      if (Number(hour) < oldest || counter === own.counter) continue;
      keys += value.keys;
      bytes += value.bytes;
    }
    if (keys > (most.keys ?? Infinity) || bytes > (most.bytes ?? Infinity)) return false;
    this.add(account, use);
    return true;
  }

  /** Counts what an account uses, or no longer uses. Returns what must be written with it. */
  add(account: string, { keys = 0, bytes = 0 }: Partial<KeyCount>): NonNullable<Commit["set"]> {
    const count = this.#countOf(account);
    count.keys = Math.max(0, count.keys + keys);
    count.bytes = Math.max(0, count.bytes + bytes);
    const value: KeyCount = { keys: count.keys, bytes: count.bytes };
    return [{ key: keyCountKey(account, count.hour, count.counter), value, ttlMs: TTL_MS }];
  }

  get #hour(): number {
    return Math.floor(this.store.now() / HOUR_MS);
  }

  #countOf(account: string): OwnCount {
    const hour = this.#hour;
    const known = this.#own.get(account);
    if (known !== undefined && known.hour === hour) return known;
    const count = { counter: randomUUID(), hour, keys: 0, bytes: 0 };
    this.#own.delete(account);
    if (this.#own.size >= MAX_ACCOUNTS) this.#own.delete(this.#own.keys().next().value!);
    this.#own.set(account, count);
    return count;
  }
}
