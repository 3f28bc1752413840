import { Holdings } from "../../../platform/lib/collections/holdings.ts";
import { laterBy, type StoreTime } from "../../../platform/store/store_time.ts";

/** The account and provider of a copy. */
export interface CopySource {
  readonly account: string;
  readonly provider: string;
}

/** The right to copy. */
export interface CopyPermit {
  /**
   * Must be called once the copy has run for {@linkcode LONG_AFTER_MS}: it moves to the long copies if they have room.
   */
  markLong(): void;
  /** Must be called once, when the copy has ended. */
  release(): void;
}

/** Duration after which a copy counts as long. */
export const LONG_AFTER_MS = 30_000;

/** Maximum number of concurrent copies, which no single provider or account can reach. */
export const MAX_COPIES = 256;

/** Limits of short copies, and of long copies in addition. */
const LIMITS = {
  short: { account: 24, provider: 64, all: 160 },
  long: { account: 24, provider: 48, all: 96 },
} as const;

const RETRY = { minMs: 1_000, maxMs: 60_000, spacingMs: 5 };

/**
 * Limits concurrent copies per account, per provider and in total, so that slow copies leave room for others. A long
 * copy moves to limits of its own while those have room, and another copy starts in its place. Copies without room
 * return later, at consecutive instants.
 */
export class CopyLimiter {
  readonly #taken = { short: new Holdings(), long: new Holdings() };
  #lastRetryAt = 0;

  /** Returns a permit; null if there is no room now. */
  acquire(source: CopySource): CopyPermit | null {
    let giveBack = this.#take("short", source);
    if (giveBack === null) return null;
    let isLong = false;
    return {
      markLong: () => {
        if (giveBack === null || isLong) return;
        const long = this.#take("long", source);
        if (long === null) return;
        giveBack();
        giveBack = long;
        isLong = true;
      },
      release: () => {
        giveBack?.();
        giveBack = null;
      },
    };
  }

  /** Returns when a copy without room tries again, in Unix milliseconds. */
  retryAt(now: StoreTime): StoreTime {
    const { minMs, maxMs, spacingMs } = RETRY;
    // Limited to a range around now, so that a clock that moved backwards delays no copy.
    const waitMs = Math.min(Math.max(this.#lastRetryAt + spacingMs - now, minMs), maxMs);
    this.#lastRetryAt = now + waitMs;
    return laterBy(now, waitMs);
  }

  #take(kind: "short" | "long", { account, provider }: CopySource): (() => void) | null {
    const limits = LIMITS[kind];
    return this.#taken[kind].take([
      [`account ${account}`, limits.account],
      [`provider ${provider}`, limits.provider],
      ["all", limits.all],
    ]);
  }
}
