import { GatewayError } from "./gateway_error.ts";

/**
 * A bound on the memory that requests hold: their bodies, the media fetched for them and the replies on their way.
 *
 * Bytes are taken before they are read and given back when they are dropped. Three rules decide whether an account
 * gets more:
 *
 * 1. All accounts together never hold more than the limit.
 * 2. An account holds at most a third of what it leaves free: a quarter of the limit while it is alone, less the more
 *    others hold. (This is the dynamic threshold of shared-memory switches: Choudhury and Hahne, IEEE/ACM Transactions
 *    on Networking 6(2), 1998.)
 * 3. An eighth of the limit is for accounts that hold at most {@linkcode SMALL_HOLDING_BYTES}, to which rule 2 does not
 *    apply. So no account can have another one's small request refused, however much it holds.
 *
 * Requests without a valid key share one holding of at most {@linkcode UNKNOWN_CALLERS_SHARE} of the limit.
 */
export class MemoryBudget {
  readonly #heldBy = new Map<string, number>();
  #inUse = 0;

  /**
   * A budget of which nothing is held.
   *
   * @param limitBytes The most bytes that all leases hold together; infinite for no limit.
   */
  constructor(readonly limitBytes: number) {}

  /** Bytes that are held now, by everybody. */
  get inUse(): number {
    return this.#inUse;
  }

  /** The most bytes that one account can hold. */
  get accountLimitBytes(): number {
    return this.limitBytes / 4;
  }

  /** Bytes that an account holds now; null for requests without a valid key. */
  inUseBy(account: string | null): number {
    return this.#heldBy.get(account ?? UNKNOWN_CALLERS) ?? 0;
  }

  /**
   * Opens a lease that holds nothing yet.
   *
   * @param account Null while the caller is not known.
   */
  lease(account: string | null = null): MemoryLease {
    return new MemoryLease(this, account ?? UNKNOWN_CALLERS);
  }

  /** Whether the account may hold so many bytes more now. For {@linkcode MemoryLease}. */
  hasRoomFor(account: string, bytes: number): boolean {
    const free = this.limitBytes - this.#inUse - bytes;
    if (free < 0) return false;
    const held = (this.#heldBy.get(account) ?? 0) + bytes;
    if (account === UNKNOWN_CALLERS) return held <= this.limitBytes * UNKNOWN_CALLERS_SHARE;
    if (held <= Math.min(SMALL_HOLDING_BYTES, this.accountLimitBytes)) return true;
    return held <= free / 3 && free >= this.limitBytes * SMALL_HOLDINGS_SHARE;
  }

  /** Counts bytes of an account; negative when they are given back. For {@linkcode MemoryLease}. */
  count(account: string, bytes: number): void {
    if (bytes === 0) return;
    this.#inUse += bytes;
    const held = (this.#heldBy.get(account) ?? 0) + bytes;
    if (held === 0) this.#heldBy.delete(account);
    else this.#heldBy.set(account, held);
  }
}

/** What every account may hold without regard to the others, in bytes, as long as the limit is not reached. */
export const SMALL_HOLDING_BYTES = 1_048_576;

/** The part of the limit that only accounts with small holdings can take. */
export const SMALL_HOLDINGS_SHARE = 1 / 8;

/** The part of the limit that requests without a valid key share. */
export const UNKNOWN_CALLERS_SHARE = 1 / 32;

/** No account has this id: see `isAccountId`. */
const UNKNOWN_CALLERS = "";
const RETRY_AFTER_SECONDS = 5;

/**
 * What one request, or one piece of work that outlives it, holds of a {@linkcode MemoryBudget}. Whoever opens a lease
 * ends it: `using lease = budget.lease(account)`.
 */
export class MemoryLease implements Disposable {
  #account: string;
  #held = 0;
  #isEnded = false;

  /** Use {@linkcode MemoryBudget.lease}. */
  constructor(readonly budget: MemoryBudget, account: string) {
    this.#account = account;
  }

  /** The account that the lease counts for; empty while the caller is not known. */
  get account(): string {
    return this.#account;
  }

  /** Bytes that the lease holds now. */
  get held(): number {
    return this.#held;
  }

  /** Names the account once the caller is known; what is held already moves to it. */
  assignTo(account: string): void {
    if (account === this.#account) return;
    this.budget.count(this.#account, -this.#held);
    this.#account = account;
    this.budget.count(account, this.#held);
  }

  /**
   * Takes bytes before they are read.
   *
   * @throws {GatewayError} `overloaded` with `Retry-After` when there is no room now; `request_too_large` when there
   * never is, because the lease alone would exceed what an account can hold.
   */
  reserve(bytes: number): void {
    const wanted = Math.ceil(bytes);
    if (this.#isEnded) throw overloaded("the request has ended");
    if (this.#held + wanted > this.budget.accountLimitBytes) throw tooLarge(this.budget.accountLimitBytes);
    if (!this.budget.hasRoomFor(this.#account, wanted)) throw overloaded("too much is under way");
    this.#held += wanted;
    this.budget.count(this.#account, wanted);
  }

  /** Gives bytes back before the lease ends; more than it holds counts as all. */
  release(bytes: number): void {
    const given = Math.min(Math.ceil(bytes), this.#held);
    this.#held -= given;
    this.budget.count(this.#account, -given);
  }

  /** Gives back everything above an earlier {@linkcode MemoryLease.held}: what was taken since is dropped. */
  releaseTo(held: number): void {
    this.release(Math.max(this.#held - held, 0));
  }

  /** Opens a lease of the same account, for work that goes on when the request has ended. */
  fork(): MemoryLease {
    return new MemoryLease(this.budget, this.#account);
  }

  /** Moves everything that is held to a new lease, for work that goes on when the request has ended. */
  detach(): MemoryLease {
    const detached = this.fork();
    detached.#held = this.#held;
    this.#held = 0;
    return detached;
  }

  /** Gives everything back; nothing can be taken afterwards. May be called twice. */
  end(): void {
    this.#isEnded = true;
    this.release(this.#held);
  }

  /** As {@linkcode MemoryLease.end}. */
  [Symbol.dispose](): void {
    this.end();
  }
}

/** A budget without a limit, for work that nobody bounds and for tests. */
export const UNLIMITED_MEMORY: MemoryBudget = new MemoryBudget(Infinity);

function overloaded(reason: string): GatewayError {
  return new GatewayError("overloaded", `Not enough memory to accept the request now: ${reason}. Send it again later`, {
    retryAfterSeconds: RETRY_AFTER_SECONDS,
    closeConnection: true,
  });
}

function tooLarge(limitBytes: number): GatewayError {
  return new GatewayError(
    "request_too_large",
    `The request needs more memory than one account may hold: ${Math.floor(limitBytes)} bytes (limits.memory)`,
    { closeConnection: true },
  );
}
