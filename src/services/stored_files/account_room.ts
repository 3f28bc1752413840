import type { Clock } from "../../platform/lib/basics/clock.ts";
import { invalidField } from "../../platform/lib/basics/gateway_error.ts";
import type { Store } from "../../platform/store/store.ts";
import { bytesOfAccount } from "./records.ts";
import { MAX_STORED_FILE_BYTES } from "./stored_file.ts";

/** What an account may store, and how it is counted. */
export interface AccountRoomParts {
  readonly store: Store;
  readonly clock: Clock;
  /** The most bytes of all that an account stores. */
  readonly maxBytes: () => number;
  /** What an account stores besides its files, in bytes. Default: nothing. */
  readonly otherBytes?: (account: string) => Promise<number>;
}

/** Room that was taken for a file that arrives. */
export interface TakenRoom {
  /** The most bytes that the file may have. */
  readonly bytes: number;
  /** Gives it back, except for what was stored. */
  end(storedBytes: number): void;
}

interface Known {
  /** Stored when it was read, and since. */
  bytes: number;
  /** Of files that arrive now. */
  arriving: number;
  /** Monotonic milliseconds. */
  readAt: number;
}

/** How long the sum of an account is used before it is read again. Other gateways, and ends of files, change it. */
const KNOWN_MS = 30_000;
/** The accounts whose sums are kept. */
const MAX_KNOWN = 1_000;

/**
 * The room for files of each account, so that no account takes the quota of all. What arrives counts when it begins, so
 * that uploads at one time cannot exceed it together. Gateways on one store see each other's files with a delay of
 * {@linkcode KNOWN_MS}.
 */
export class AccountRoom {
  readonly #known = new Map<string, Known>();

  constructor(readonly parts: AccountRoomParts) {}

  /**
   * Takes room for a file.
   *
   * @param declared The most that it can have; null if the request does not declare it. Then it gets what is left, up
   * to the maximum of one file.
   * @param field The field of the caller's request that has the file.
   * @throws {GatewayError} `invalid_request` if the account has no room.
   */
  async take(account: string, declared: number | null, field: string): Promise<TakenRoom> {
    const known = await this.#knownOf(account);
    const room = this.parts.maxBytes() - known.bytes - known.arriving;
    const bytes = declared ?? Math.min(room, MAX_STORED_FILE_BYTES);
    if (room <= 0 || bytes > room) {
      throw invalidField(
        field,
        `expected at most ${Math.max(room, 0)} bytes, which is what the account can still store; delete files first`,
        { reason: { errorCode: "storage_quota_exceeded" } },
      );
    }
    known.arriving += bytes;
    let hasEnded = false;
    return {
      bytes,
      end(storedBytes) {
        if (hasEnded) return;
        hasEnded = true;
        known.arriving -= bytes;
        known.bytes += storedBytes;
      },
    };
  }

  /** Counts a file of the account that was removed. */
  giveBack(account: string, bytes: number): void {
    const known = this.#known.get(account);
    if (known !== undefined) known.bytes -= bytes;
  }

  async #knownOf(account: string): Promise<Known> {
    const before = this.#known.get(account);
    if (before !== undefined && this.#isFresh(before)) return before;
    const { store, otherBytes } = this.parts;
    const bytes = await bytesOfAccount(store, account) + (await otherBytes?.(account) ?? 0);
    const readAt = this.parts.clock.monotonicMs();
    const known = this.#known.get(account);
    // What arrives is counted in the same place, also while it is read again.
    if (known !== undefined) return Object.assign(known, { bytes, readAt });
    if (this.#known.size >= MAX_KNOWN) this.#forgetIdle();
    const created = { bytes, arriving: 0, readAt };
    this.#known.set(account, created);
    return created;
  }

  #isFresh({ readAt }: Known): boolean {
    return this.parts.clock.monotonicMs() - readAt < KNOWN_MS;
  }

  #forgetIdle(): void {
    for (const [account, { arriving }] of this.#known) if (arriving === 0) this.#known.delete(account);
  }
}
