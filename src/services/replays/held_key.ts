import type { Clock } from "../../platform/lib/basics/clock.ts";
import { errorName, type Log } from "../../platform/lib/basics/log.ts";
import type { IdempotencyCounts } from "../../money/limits/idempotency_counts.ts";
import type { Commit, Key, Store, Version } from "../../platform/store/store.ts";
import { writtenVersion } from "../../platform/store/written_version.ts";
import type { IdempotencyRecord, RunningKey, StoredReply, UsedKey } from "./records.ts";

/** The dependencies of {@linkcode HeldKey}. */
export interface HeldKeyParts {
  readonly store: Pick<Store, "commit" | "now">;
  readonly clock: Clock;
  readonly log: Log;
  readonly counts: IdempotencyCounts;
  readonly leaseMs: number;
}

/** Where a key is, and whose it is. */
export interface KeyPlace {
  readonly key: Key;
  readonly account: string;
}

/**
 * A key that a request under way uses. A third of the lease apart, its end is moved on, so that the key is free soon
 * after the end of a process that was killed, and never while the request runs.
 */
export class HeldKey {
  #record: RunningKey;
  #version: Version;
  #renewal: Promise<void> = Promise.resolve();
  #stopTimer: () => void = () => {};
  #isOver = false;

  constructor(
    readonly place: KeyPlace,
    record: RunningKey,
    version: Version,
    private readonly parts: HeldKeyParts,
  ) {
    this.#record = record;
    this.#version = version;
    this.#renewLater();
  }

  /** Earlier requests with the key that were interrupted, and may have been charged. */
  get interrupted(): readonly string[] {
    return this.#record.interrupted;
  }

  /**
   * The request has ended: its reply is returned to all later requests with the key. Never rejects.
   *
   * @returns Whether it was stored.
   */
  async use(fingerprint: string | null, reply: StoredReply | null): Promise<boolean> {
    const { requestId, interrupted, expiresAt } = this.#record;
    const used: UsedKey = { state: "used", requestId, interrupted, expiresAt, fingerprint, reply };
    return await this.#end({ set: [this.#setOf(used)] });
  }

  /** The request has ended without a charge: the next request with the key is carried out. Never rejects. */
  async free(): Promise<boolean> {
    const { interrupted } = this.#record;
    // What says that earlier requests were interrupted is kept.
    const commit = interrupted.length > 0 ? { set: [this.#setOf(this.#ended())] } : { delete: [this.place.key] };
    const isFree = await this.#end(commit);
    if (isFree) await this.parts.counts.giveBack(this.place.account, { keys: 1 });
    return isFree;
  }

  #ended(): RunningKey {
    return { ...this.#record, leaseUntil: 0 };
  }

  async #end(commit: Commit): Promise<boolean> {
    this.#isOver = true;
    this.#stopTimer();
    await this.#renewal;
    const { log } = this.parts;
    const { requestId } = this.#record;
    try {
      if ((await this.#commit(commit)).ok) return true;
      log.warn("idempotency_key_lost", { requestId, accountId: this.place.account });
    } catch (error) {
      const reason = errorName(error);
      log.warn("idempotency_key_not_written", { requestId, accountId: this.place.account, reason });
    }
    return false;
  }

  #renewLater(): void {
    this.#stopTimer = this.parts.clock.after(Math.ceil(this.parts.leaseMs / 3), () => {
      this.#renewal = this.#renew().finally(() => {
        if (!this.#isOver) this.#renewLater();
      });
    });
  }

  async #renew(): Promise<void> {
    const record = { ...this.#record, leaseUntil: this.parts.store.now() + this.parts.leaseMs };
    const commit = { set: [this.#setOf(record)] };
    try {
      const result = await this.#commit(commit);
      const version = writtenVersion(commit, result, this.place.key);
      if (version === null) return;
      this.#version = version;
      this.#record = record;
    } catch {
      // The store may take the next one. Otherwise the lease ends.
    }
  }

  async #commit(commit: Commit) {
    return await this.parts.store.commit(null, {
      ...commit,
      check: [{ key: this.place.key, version: this.#version }],
    });
  }

  #setOf(value: IdempotencyRecord): NonNullable<Commit["set"]>[number] {
    return { key: this.place.key, value, ttlMs: Math.max(1, value.expiresAt - this.parts.store.now()) };
  }
}
