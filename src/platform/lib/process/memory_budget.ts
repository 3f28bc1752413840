import { GatewayError } from "../basics/gateway_error.ts";
import { Holdings, shareOfRest } from "../collections/holdings.ts";
import type { ThreadUse } from "./thread_use.ts";

/**
 * Limits the memory that requests hold: their bodies, the media fetched for them and the replies in transit.
 *
 * Bytes are reserved before they are read and released when they are dropped. Three rules decide whether an account may
 * reserve more:
 *
 * 1. All accounts together never hold more than the limit.
 * 2. An account holds at most a third of the memory that it leaves free: a quarter of the limit while it is alone, less
 *   as others hold more. See {@linkcode shareOfRest}.
 * 3. An eighth of the limit is for accounts that hold at most {@linkcode SMALL_HOLDING_BYTES}; rule 2 does not apply to
 *   them. One account's memory can therefore never cause another account's small request to be refused.
 *
 * Requests without a valid key share at most {@linkcode UNKNOWN_CALLERS_SHARE} of the limit.
 *
 * Threads have a budget each and one limit for all. What others hold counts in all rules: for all accounts exactly, for
 * one account together with the few others that share its hash. Each thread counts what it reserves before it reads
 * what the others hold, so that two that reserve at the same moment never exceed the limit; both may be refused.
 */
export class MemoryBudget {
  /** By account. */
  readonly #held = new Holdings();

  /**
   * Creates an unused budget.
   *
   * @param limitBytes The maximum number of bytes that all leases hold together; infinite for no limit.
   * @param threads What other threads hold of the same memory, and their limit with this one. Default: no other thread
   * has requests.
   */
  constructor(
    readonly limitBytes: number,
    readonly threads: { readonly use: ThreadUse; readonly limitBytes: number } | null = null,
  ) {}

  /** The bytes that the leases of all threads hold. */
  get inUse(): number {
    return this.#held.total + (this.threads?.use.othersMemory ?? 0);
  }

  /** The maximum number of bytes that one account can hold. */
  get accountLimitBytes(): number {
    return this.limitBytes * ACCOUNT_SHARE;
  }

  /** The number of accounts in memory. It is bounded by those that hold something. */
  get accountCount(): number {
    return this.#held.size;
  }

  /** The bytes that an account holds; null for requests without a valid key. */
  inUseBy(account: string | null): number {
    return this.#held.of(account ?? UNKNOWN_CALLERS);
  }

  /**
   * Opens an empty lease.
   *
   * @param account Null until the caller is authenticated.
   */
  lease(account: string | null = null): HeldMemory {
    return new HeldMemory(this, account ?? UNKNOWN_CALLERS);
  }

  /** Whether the account may reserve `bytes` more. For {@linkcode HeldMemory}. */
  hasRoomFor(account: string, bytes: number): boolean {
    const { threads, limitBytes } = this;
    const free = limitBytes - this.#held.total - bytes;
    const allFree = threads === null ? free : threads.limitBytes - this.inUse - bytes;
    if (free < 0 || allFree < 0) return false;
    const own = this.#held.of(account);
    const held = own + bytes;
    if (account === UNKNOWN_CALLERS) {
      return held + this.#othersHeldBy(account) <= (threads?.limitBytes ?? limitBytes) * UNKNOWN_CALLERS_SHARE;
    }
    if (held <= Math.min(SMALL_HOLDING_BYTES, this.accountLimitBytes)) return true;
    if (held > shareOfRest(limitBytes, this.#held.total - own, ACCOUNT_SHARE)) return false;
    if (Math.min(free, allFree) < limitBytes * SMALL_HOLDINGS_SHARE) return false;
    if (threads === null) return true;
    const inOthers = this.#othersHeldBy(account);
    return held + inOthers <= shareOfRest(threads.limitBytes, this.inUse - own - inOthers, ACCOUNT_SHARE);
  }

  /** Whether the leases of all threads hold more than the limit. For {@linkcode HeldMemory}. */
  get isExceeded(): boolean {
    return this.threads !== null && this.inUse > this.threads.limitBytes;
  }

  /** The bytes that the group of an account holds in other threads. */
  #othersHeldBy(account: string): number {
    const { threads } = this;
    return threads === null ? 0 : threads.use.othersMemoryOf(threads.use.groupOf(account));
  }

  /** Adds to the bytes of an account; a negative number releases. For {@linkcode HeldMemory}. */
  count(account: string, bytes: number): void {
    if (bytes === 0) return;
    this.#held.add(account, bytes);
    if (this.threads === null) return;
    const { use } = this.threads;
    use.setMemory(this.#held.total);
    use.addToGroup(use.groupOf(account), bytes);
  }
}

/** The part of what others leave that one account may hold: a third of what it leaves free itself. */
const ACCOUNT_SHARE = 1 / 4;

/** The bytes that every account may hold regardless of the others, as long as the limit is not reached. */
export const SMALL_HOLDING_BYTES = 1_048_576;

/** The share of the limit that is reserved for accounts with small holdings. */
const SMALL_HOLDINGS_SHARE = 1 / 8;

/** The share of the limit for requests without a valid key. */
const UNKNOWN_CALLERS_SHARE = 1 / 32;

/** No account has this id: see `isAccountId`. */
const UNKNOWN_CALLERS = "";
const RETRY_AFTER_SECONDS = 5;
const TOO_MANY = "too many requests are in progress";

/**
 * The memory that one request holds of a {@linkcode MemoryBudget}, or work that outlives the request. The code that
 * opens a lease ends it: `using lease = budget.lease(account)`.
 */
export class HeldMemory implements Disposable {
  #account: string;
  #held = 0;
  #isEnded = false;

  /** Use {@linkcode MemoryBudget.lease}. */
  constructor(readonly budget: MemoryBudget, account: string) {
    this.#account = account;
  }

  /** The account of the lease; empty until the caller is authenticated. */
  get account(): string {
    return this.#account;
  }

  /** The bytes that the lease holds. */
  get held(): number {
    return this.#held;
  }

  /** Sets the account once the caller is authenticated. Bytes held already move to it. */
  assignTo(account: string): void {
    if (account === this.#account) return;
    this.budget.count(this.#account, -this.#held);
    this.#account = account;
    this.budget.count(account, this.#held);
  }

  /**
   * Reserves bytes before they are read.
   *
   * @throws {GatewayError} `overloaded` with `Retry-After` if there is no room now. `request_too_large` if the lease
   * alone would exceed the limit of an account.
   */
  reserve(bytes: number): void {
    const wanted = Math.ceil(bytes);
    if (this.#isEnded) throw overloaded("the request has ended");
    if (this.#held + wanted > this.budget.accountLimitBytes) throw tooLarge(this.budget.accountLimitBytes);
    if (!this.budget.hasRoomFor(this.#account, wanted)) throw overloaded(TOO_MANY);
    this.#held += wanted;
    this.budget.count(this.#account, wanted);
    if (!this.budget.isExceeded) return;
    this.release(wanted); // another thread has reserved since
    throw overloaded(TOO_MANY);
  }

  /** Releases bytes before the lease ends. A number above the bytes held releases all of them. */
  release(bytes: number): void {
    const given = Math.min(Math.ceil(bytes), this.#held);
    this.#held -= given;
    this.budget.count(this.#account, -given);
  }

  /** Releases everything above an earlier value of {@linkcode HeldMemory.held}. */
  releaseTo(held: number): void {
    this.release(Math.max(this.#held - held, 0));
  }

  /** Opens a lease of the same account, for work that continues after the request has ended. */
  fork(): HeldMemory {
    return new HeldMemory(this.budget, this.#account);
  }

  /** Moves all bytes to a new lease, for work that continues after the request has ended. */
  detach(): HeldMemory {
    const detached = this.fork();
    detached.#held = this.#held;
    this.#held = 0;
    return detached;
  }

  /** Releases everything. Nothing can be reserved afterwards. May be called twice. */
  end(): void {
    this.#isEnded = true;
    this.release(this.#held);
  }

  /** As {@linkcode HeldMemory.end}. */
  [Symbol.dispose](): void {
    this.end();
  }
}

/** A budget without a limit, for work that is bounded elsewhere and for tests. */
export const UNLIMITED_MEMORY: MemoryBudget = new MemoryBudget(Infinity);

function overloaded(reason: string): GatewayError {
  return new GatewayError("overloaded", `Not enough memory to accept the request: ${reason}. Retry later`, {
    retryAfterSeconds: RETRY_AFTER_SECONDS,
    closeConnection: true,
  });
}

function tooLarge(limitBytes: number): GatewayError {
  return new GatewayError(
    "request_too_large",
    `The request exceeds the memory limit of one account: ${Math.floor(limitBytes)} bytes (limits.memory)`,
    { closeConnection: true },
  );
}
