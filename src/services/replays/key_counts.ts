import { GatewayError } from "../../platform/lib/basics/gateway_error.ts";
import { nextTurn } from "../../platform/lib/streams/loop_turns.ts";
import type { IdempotencyCounts, IdempotencyUse } from "../../money/limits/idempotency_counts.ts";
import type { Store } from "../../platform/store/store.ts";
import { type HourCount, keyCountsKey } from "./records.ts";

const HOUR_MS = 3_600_000;
const HOURS = 24;
/** Counts are kept a little longer than the keys that they count. */
const TTL_MS = 25 * HOUR_MS;
/** Processes that change the counts of one account race. Each round has a winner, with all that it has to change. */
const MAX_RACES = 100;

interface Change {
  readonly keys: number;
  readonly bytes: number;
  /** Null for a change that is always made. */
  readonly most: Partial<IdempotencyUse> | null;
  readonly resolve: (isCounted: boolean) => void;
  readonly reject: (error: unknown) => void;
}

/**
 * Counts what accounts use within 24 hours, in one value for each account. A process has one instance, which makes the
 * changes of an account that wait together in one commit, in their order. A commit is refused if another process has
 * changed the value since it was read, so that no limit is passed. Source: docs/decisions/0211-counts-of-keys.md.
 */
export class KeyCounts implements IdempotencyCounts {
  /** The changes that wait, by account. An account that is here has its commits under way. */
  readonly #waiting = new Map<string, Change[]>();

  constructor(private readonly store: Pick<Store, "get" | "commit" | "now">) {}

  async take(account: string, use: Partial<IdempotencyUse>, most: Partial<IdempotencyUse>): Promise<boolean> {
    return await this.#change(account, { keys: use.keys ?? 0, bytes: use.bytes ?? 0 }, most);
  }

  async giveBack(account: string, { keys = 0, bytes = 0 }: Partial<IdempotencyUse>): Promise<void> {
    // A store that takes no writes counts too much until the day ends.
    await this.#change(account, { keys: -keys, bytes: -bytes }, null).catch(() => {});
  }

  #change(account: string, by: IdempotencyUse, most: Change["most"]): Promise<boolean> {
    const { promise, resolve, reject } = Promise.withResolvers<boolean>();
    const change = { ...by, most, resolve, reject };
    const waiting = this.#waiting.get(account);
    if (waiting !== undefined) waiting.push(change);
    else {
      this.#waiting.set(account, [change]);
      this.#makeChanges(account);
    }
    return promise;
  }

  /** Makes the changes that wait, then those that were added meanwhile. */
  #makeChanges(account: string): void {
    const changes = this.#waiting.get(account) ?? [];
    if (changes.length === 0) return void this.#waiting.delete(account);
    this.#waiting.set(account, []);
    this.#committed(account, changes).then(
      (isCounted) => changes.forEach(({ resolve }, nth) => resolve(isCounted[nth] === true)),
      (error) => changes.forEach(({ reject }) => reject(error)),
    ).finally(() => this.#makeChanges(account));
  }

  /** Returns which changes were made. */
  async #committed(account: string, changes: readonly Change[]): Promise<boolean[]> {
    const key = keyCountsKey(account);
    for (let race = 0; race < MAX_RACES; race++) {
      if (race > 0) await nextTurn();
      const [entry] = await this.store.get<readonly HourCount[]>([key]);
      const hour = Math.floor(this.store.now() / HOUR_MS);
      const counts = (entry?.value ?? []).filter((count) => count.hour >= hour - HOURS);
      const { value, isCounted } = changed(counts, changes, hour);
      if (!isCounted.includes(true)) return isCounted;
      const { ok } = await this.store.commit(null, {
        check: [{ key, version: entry?.version ?? null }],
        set: [{ key, value, ttlMs: TTL_MS }],
      });
      if (ok) return isCounted;
    }
    throw new GatewayError("storage_unavailable", "Cannot count the Idempotency-Key: too many concurrent changes");
  }
}

/** Makes the changes in their order, those excepted that exceed a limit. */
function changed(
  counts: readonly HourCount[],
  changes: readonly Change[],
  hour: number,
): { readonly value: readonly HourCount[]; readonly isCounted: boolean[] } {
  const hours = counts.map((count) => ({ ...count }));
  if (hours.at(-1)?.hour !== hour) hours.push({ hour, keys: 0, bytes: 0 });
  const isCounted = changes.map(({ keys, bytes, most }) => {
    if (most !== null && (exceeds("keys", keys, most) || exceeds("bytes", bytes, most))) return false;
    add("keys", keys);
    add("bytes", bytes);
    return true;
  });
  return { value: hours, isCounted };

  function exceeds(what: "keys" | "bytes", amount: number, most: Partial<IdempotencyUse>): boolean {
    const limit = most[what];
    return limit !== undefined && hours.reduce((sum, count) => sum + count[what], amount) > limit;
  }

  /** What is given back is taken from the latest hours, in which it was probably counted. */
  function add(what: "keys" | "bytes", amount: number): void {
    let left = amount;
    for (const count of hours.toReversed()) {
      const before = count[what];
      count[what] = Math.max(0, before + left);
      left -= count[what] - before;
      if (left >= 0) return;
    }
  }
}
