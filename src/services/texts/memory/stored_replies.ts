import type { Clock } from "../../../platform/lib/basics/clock.ts";
import { errorName, type Log } from "../../../platform/lib/basics/log.ts";
import type { Key, Store } from "../../../platform/store/store.ts";
import { BoundedMemory, type KeptValues } from "./bounded_memory.ts";
import { keptRepliesOf, keptReplyKey, type ReplyKind } from "./records.ts";

/** The dependencies of stored replies. */
export interface StoredRepliesParts {
  readonly kind: ReplyKind;
  readonly store: Pick<Store, "get" | "scan" | "commit">;
  readonly clock: Clock;
  readonly log: Log;
}

interface Waiting {
  readonly key: string;
  readonly value: unknown;
  readonly characters: number;
}

const TTL_MS = 6 * 3_600_000;
const WRITE_DELAY_MS = 50;
const MAX_VALUES_PER_COMMIT = 50;
const MAX_CHARACTERS_PER_COMMIT = 4_000_000;
/** What waits beyond it is not stored. */
const MAX_WAITING_CHARACTERS = 32_000_000;
/** A larger value is found on this process only. */
const MAX_VALUE_CHARACTERS = 2_000_000;
const MAX_KEYS_PER_READ = 500;
/** A value is stored by its reply, long before a request refers to it. So what is not found once stays so. */
const MISSED_MS = 60_000;
const MAX_MISSED = 20_000;
const DELETE_PAGE = 500;

/**
 * Reads what other processes have kept of replies into a memory.
 *
 * @param near Where values are found, and read to.
 */
export class ReplyReader<V> {
  readonly #missed = new Map<string, number>();

  constructor(
    private readonly parts: Omit<StoredRepliesParts, "log">,
    private readonly near: KeptValues<V>,
  ) {}

  /** Reads values that are not near. A value that cannot be read is not found. */
  load(keys: readonly string[]): Promise<void> | null {
    const now = this.parts.clock.monotonicMs();
    const missing = [...new Set(keys)].slice(-MAX_KEYS_PER_READ)
      .filter((key) => (this.#missed.get(key) ?? -Infinity) <= now && this.near.find(key) === null);
    return missing.length === 0 ? null : this.#read(missing, now);
  }

  async #read(keys: readonly string[], now: number): Promise<void> {
    const { kind, store } = this.parts;
    try {
      const entries = await store.get<{ value: V; characters: number }>(keys.map((key) => keptReplyKey(kind, key)));
      for (const [n, key] of keys.entries()) {
        const entry = entries[n] ?? null;
        if (entry === null) this.#miss(key, now + MISSED_MS);
        else this.near.put(key, entry.value.value, entry.value.characters);
      }
    } catch { /* the request goes on as if nothing was kept */ }
  }

  #miss(key: string, until: number): void {
    this.#missed.delete(key);
    this.#missed.set(key, until);
    const [oldest] = this.#missed.keys();
    if (this.#missed.size > MAX_MISSED && oldest !== undefined) this.#missed.delete(oldest);
  }
}

/**
 * What is kept of replies, in memory and in a store that several processes share, for six hours. Values are written a
 * moment after a reply, several in one commit, and read when a request refers to them. One that could not be written is
 * found in this process only.
 */
export class StoredReplies<V> implements KeptValues<V> {
  readonly #near: BoundedMemory<V>;
  readonly #reader: ReplyReader<V>;
  #waiting: Waiting[] = [];
  #characters = 0;
  #writing: Promise<void> = Promise.resolve();
  #stopTimer: (() => void) | null = null;

  constructor(private readonly parts: StoredRepliesParts) {
    this.#near = new BoundedMemory(parts.clock);
    this.#reader = new ReplyReader(parts, this.#near);
  }

  get isEmpty(): boolean {
    return this.#near.isEmpty;
  }

  put(key: string, value: V, characters: number): void {
    this.#near.put(key, value, characters);
    if (characters > MAX_VALUE_CHARACTERS || this.#characters > MAX_WAITING_CHARACTERS) return;
    this.#waiting.push({ key, value, characters });
    this.#characters += characters;
    this.#stopTimer ??= this.parts.clock.after(WRITE_DELAY_MS, () => this.#write());
  }

  find(key: string): V | null {
    return this.#near.find(key);
  }

  load(keys: readonly string[]): Promise<void> | null {
    return this.#reader.load(keys);
  }

  /** Removes every value of an account. Returns their number in memory. Those in the store follow. */
  removeAccount(accountId: string): number {
    this.#waiting = this.#waiting.filter(({ key }) => !key.startsWith(`${accountId} `));
    this.#characters = this.#waiting.reduce((sum, { characters }) => sum + characters, 0);
    this.#writing = this.#writing.then(() => this.#removeStored(accountId));
    return this.#near.removeAccount(accountId);
  }

  /** Writes what waits, for the end of the process. Never rejects. */
  async close(): Promise<void> {
    this.#write();
    await this.#writing;
  }

  #write(): void {
    this.#stopTimer?.();
    this.#stopTimer = null;
    const waiting = this.#waiting;
    this.#waiting = [];
    this.#characters = 0;
    if (waiting.length === 0) return;
    this.#writing = this.#writing.then(() => this.#writeAll(waiting));
  }

  async #writeAll(waiting: readonly Waiting[]): Promise<void> {
    try {
      // Ends with the list: each commit has at least one of it.
      for (let at = 0; at < waiting.length;) {
        const set: { key: Key; value: unknown; ttlMs: number }[] = [];
        let total = 0;
        for (let one = waiting[at]; one !== undefined; one = waiting[at]) {
          const isFull = set.length === MAX_VALUES_PER_COMMIT || total + one.characters > MAX_CHARACTERS_PER_COMMIT;
          if (set.length > 0 && isFull) break;
          const { key, value, characters } = one;
          set.push({ key: keptReplyKey(this.parts.kind, key), value: { value, characters }, ttlMs: TTL_MS });
          total += characters;
          at++;
        }
        await this.parts.store.commit(null, { set });
      }
    } catch (error) {
      this.parts.log.warn("replies_not_stored", { reason: errorName(error) });
    }
  }

  async #removeStored(accountId: string): Promise<void> {
    const { kind, store, log } = this.parts;
    try {
      for (;;) {
        const entries = await store.scan(keptRepliesOf(accountId, kind), { limit: DELETE_PAGE });
        if (entries.length > 0) await store.commit(null, { delete: entries.map(({ key }) => key) });
        if (entries.length < DELETE_PAGE) return;
      }
    } catch (error) {
      log.warn("replies_not_removed", { accountId, reason: errorName(error) });
    }
  }
}
