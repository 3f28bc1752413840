import type { Money } from "../../platform/lib/basics/money.ts";
import { LentLimits } from "./lent_limits.ts";
import { LimitBudgets } from "./limit_budgets.ts";
import { longerWait, rateRefusalOf, takeRate, tooManyOpen } from "./limit_check.ts";
import { LimitLeases } from "./limit_leases.ts";
import { rateLimited } from "./limit_refusal.ts";
import { type HolderState, LimitStates, type LimitStatesOptions } from "./limit_states.ts";
import type { HeldTokens, LimitedCall, LimitedCaller, LimitHolder, TokenEstimate } from "./limited_caller.ts";
import { lesserRates, type LimitsLeft, limitsLeftOf, type RatesLeft, ratesLeftOf } from "./limits_left.ts";

/** The dependencies and settings of the limits of an account. */
export interface AccountLimiterOptions extends LimitStatesOptions {
  /** The time of the store in Unix milliseconds, for the periods of budgets. Default: that of the clock. */
  readonly now?: () => number;
  /** Returns the open calls that every account can have. Default: no limit. */
  readonly accountConcurrency?: () => number;
}

/** The limits of a caller that allow a request. */
interface CheckedLimits {
  readonly limits: NonNullable<LimitedCaller["limits"]>;
  readonly key: HolderState | null;
  readonly account: HolderState | null;
  readonly now: number;
}

/**
 * The limits of one account and of its keys: rate, tokens, concurrency and budget. Every method is synchronous and a
 * refusal changes nothing. So a caller of the methods that does not wait between them takes all limits or none, and
 * requests cannot pass a limit together.
 *
 *     check and take: does a limit refuse? (limit_check.ts) → what is open is counted (here)
 *     lease: this process has enough of what other processes have too (limit_leases.ts)
 *     lent: what the threads of this process have (lent_limits.ts)
 *
 * Keys without limits have no state: they cost a comparison with the number of open calls.
 */
export class AccountLimiter {
  readonly #states: LimitStates;
  /** What this process leases of the limits, if other processes have them too. */
  readonly leases: LimitLeases;
  /** What threads of this process have of the limits. */
  readonly lent: LentLimits;
  /** What was spent of the budgets. */
  readonly budgets: LimitBudgets;

  constructor(private readonly options: AccountLimiterOptions) {
    const { clock, shares = null } = options;
    const monotonicMs = () => clock.monotonicMs();
    this.#states = new LimitStates(options);
    this.leases = new LimitLeases(this.#states, { monotonicMs, gateways: shares?.gateways ?? null });
    this.lent = new LentLimits(this.#states, {
      monotonicMs,
      freeCalls: () => this.#maxOpen - options.openCalls.size,
    });
    this.budgets = new LimitBudgets(this.#states, { monotonicMs, now: () => this.#now() });
  }

  /** Whether the limiter can be evicted without loss: nothing is used or open, and what was spent can be read again. */
  get isIdle(): boolean {
    return this.#states.isIdle;
  }

  /**
   * Checks the limits of rate and concurrency and takes a request and its tokens, for a call that is opened next.
   *
   * @returns The tokens that the call has reserved; null for none.
   * @throws {GatewayError} `rate_limited`, naming the limit. Nothing is taken then.
   */
  take(caller: LimitedCaller, estimate: TokenEstimate): LimitedCall["tokenLeases"] {
    const checked = this.#checked(caller, estimate);
    if (checked === null) return null;
    const { limits, key, account, now } = checked;
    const held: HeldTokens[] = [];
    if (key !== null) takeRate(limits.key, { state: key, estimate, now }, held);
    if (account !== null) takeRate(limits.account, { state: account, estimate, now }, held);
    return held.length === 0 ? null : held;
  }

  /**
   * Checks the limits of rate and concurrency, and takes nothing.
   *
   * @throws {GatewayError} As {@linkcode AccountLimiter.take}.
   */
  check(caller: LimitedCaller, estimate: TokenEstimate): void {
    this.#checked(caller, estimate);
  }

  /** Null if neither the key nor its account has a limit. */
  #checked({ keyId, limits }: LimitedCaller, estimate: TokenEstimate): CheckedLimits | null {
    const maxOpen = this.#maxOpen;
    if (this.options.openCalls.size >= maxOpen) throw rateLimited(tooManyOpen("account", maxOpen));
    if (limits === null) return null;
    const now = this.options.clock.monotonicMs();
    const key = this.#states.withKey(keyId, limits.key, now);
    const account = this.#states.withAccount(limits.account, now);
    const refusal = longerWait(
      key === null ? null : rateRefusalOf("key", limits.key, { state: key, estimate, now }),
      account === null ? null : rateRefusalOf("account", limits.account, { state: account, estimate, now }),
    );
    if (refusal !== null) throw rateLimited(refusal);
    return { limits, key, account, now };
  }

  /**
   * Notes a call that is now open, or calls that a thread leased.
   *
   * @param calls Default: one.
   */
  onOpened({ keyId, amount }: Pick<LimitedCall, "keyId" | "amount">, calls?: number): void {
    const { account } = this.#states;
    if (account !== null) openIn(account, amount, calls);
    const key = this.#states.key(keyId);
    if (key !== null) openIn(key, amount, calls);
  }

  /**
   * Notes a call that is no longer open, with what it used.
   *
   * @param charged Its charge.
   * @param tokens The tokens that it used.
   */
  onClosed(call: LimitedCall, charged: Money, tokens: number): void {
    if (call.tokenLeases !== null) {
      const now = this.options.clock.monotonicMs();
      for (const { bucket, reserved } of call.tokenLeases) bucket.settle(reserved, tokens, now);
    }
    this.onGivenBack(call, { charged });
  }

  /**
   * Notes calls that are no longer open, such as those that a thread gave back.
   *
   * @param calls Default: one.
   */
  onGivenBack(
    { keyId, amount }: Pick<LimitedCall, "keyId" | "amount">,
    { charged, calls = 1 }: Omit<ClosedCalls, "now">,
  ): void {
    const closed = { charged, calls, now: this.#now() };
    const { account } = this.#states;
    if (account !== null) this.#close(account, amount, closed);
    const key = this.#states.key(keyId);
    if (key !== null) this.#close(key, amount, closed);
  }

  #close(state: HolderState, amount: Money, closed: ClosedCalls): void {
    closeIn(state, amount, closed);
    this.leases.onClosed(state);
  }

  /** What a caller's limits of rate have left: of key and account the one that leaves less. Null without any. */
  ratesLeft({ keyId, limits }: LimitedCaller): RatesLeft | null {
    if (limits === null) return null;
    const { key, account } = limits;
    if ((key.rpm ?? key.tpm ?? account.rpm ?? account.tpm) === undefined) return null;
    const now = this.options.clock.monotonicMs();
    return lesserRates(
      ratesLeftOf(key, this.#states.key(keyId), now),
      ratesLeftOf(account, this.#states.account, now),
    );
  }

  /**
   * What all limits of a caller have left.
   *
   * @throws {Error} If its budgets are not loaded.
   */
  limitsLeft({ keyId, limits }: LimitedCaller): Readonly<Record<LimitHolder, LimitsLeft>> {
    if (limits === null) return { key: {}, account: {} };
    const now = this.options.clock.monotonicMs();
    const [key, account] = [
      this.#states.withKey(keyId, limits.key, now),
      this.#states.withAccount(limits.account, now),
    ];
    return {
      key: limitsLeftOf("key", limits.key, { state: key, now }),
      account: limitsLeftOf("account", limits.account, { state: account, now }),
    };
  }

  get #maxOpen(): number {
    return this.options.accountConcurrency?.() ?? Infinity;
  }

  #now(): number {
    return this.options.now?.() ?? this.options.clock.now();
  }
}

/** How calls end. */
interface ClosedCalls {
  /** What they are charged. */
  readonly charged: Money;
  /** Unix milliseconds. */
  readonly now: number;
  /** Default: one. */
  readonly calls?: number;
}

/** Counts calls that are now open, with the money that they reserve. */
function openIn(state: HolderState, amount: Money, calls = 1): void {
  state.open += calls;
  state.openShare?.reserve(BigInt(calls));
  for (const budget of state.budgets) budget.reserve(amount);
}

/** Counts the end of calls and of their reservation. */
function closeIn(state: HolderState, amount: Money, { charged, now, calls = 1 }: ClosedCalls): void {
  state.open -= calls;
  state.openShare?.settle(BigInt(calls), 0n);
  for (const budget of state.budgets) budget.settle(amount, charged, now);
}
