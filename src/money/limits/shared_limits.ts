import type { Money } from "../../platform/lib/basics/money.ts";
import type { Budget, BudgetPeriod } from "./access_limits.ts";
import { BudgetState } from "./budget_state.ts";
import { LimitShare, type ShareOptions } from "./limit_share.ts";
import { RateBucket } from "./rate_bucket.ts";

/** A limit per minute of which this process leases a share. The bucket of this process alone holds as well. */
export class SharedRateBucket extends RateBucket {
  constructor(perMinute: number, now: number, readonly share: LimitShare) {
    super(perMinute, now);
  }

  override isFull(now: number): boolean {
    return super.isFull(now) && this.share.isIdle;
  }

  override leftAt(now: number): number {
    const left = super.leftAt(now);
    return Math.max(0, Math.min(left, Math.floor(this.share.left ?? left)));
  }

  override fullInMs(now: number): number {
    const { left } = this.share;
    const fullInMs = super.fullInMs(now);
    return left === null || this.limit === 0
      ? fullInMs
      : Math.max(fullInMs, Math.ceil((this.limit - left) * 60_000 / this.limit));
  }

  override use(units: number, now: number): void {
    super.use(units, now);
    if (units > 0) this.share.settle(0n, BigInt(units));
  }

  override reserve(units: number): number {
    const reserved = super.reserve(units);
    this.share.reserve(BigInt(reserved));
    return reserved;
  }

  override settle(reserved: number, used: number, now: number): void {
    this.share.settle(BigInt(reserved), 0n);
    super.settle(reserved, used, now);
  }
}

/** Whose budget it is, and of which periods. */
export interface BudgetOfHolder {
  readonly per: BudgetPeriod;
  /** The key is empty for the account's budget. */
  readonly holder: readonly [account: string, keyId: string];
}

/** A budget of which this process leases a part of what is left. */
export class SharedBudget extends BudgetState {
  #share: LimitShare | null = null;
  #others: Money = 0n;
  #loadedAt = -Infinity;
  #selectedAt = -Infinity;
  readonly #holder: BudgetOfHolder["holder"];
  #amount: Money = 0n;
  /** Reservations before the first period was selected. */
  #carried: Money;

  constructor(of: BudgetOfHolder, reserved: Money, private readonly options: ShareOptions) {
    super(of.per, reserved);
    this.#holder = of.holder;
    this.#carried = reserved;
  }

  /** The share of the selected period. @throws {Error} If no period was selected. */
  get share(): LimitShare {
    if (this.#share === null) throw new Error("No period of the budget was selected");
    return this.#share;
  }

  /** Whether a period was selected. */
  get hasShare(): boolean {
    return this.#share !== null;
  }

  /** The amount of the budget as of its last use. */
  get amount(): Money {
    return this.#amount;
  }

  override get isIdle(): boolean {
    return super.isIdle && (this.#share === null || this.#share.isIdle);
  }

  /** Whether other processes leased of the budget when that was read last. */
  get isHeldElsewhere(): boolean {
    return this.#others > 0n;
  }

  /** What other processes lease. */
  set others(others: Money) {
    this.#others = others;
    this.#loadedAt = this.options.clock.monotonicMs();
  }

  /** The time since the leases of others were read. */
  get ageMs(): number {
    return this.options.clock.monotonicMs() - this.#loadedAt;
  }

  /** The time since a call asked for the budget. */
  get unselectedMs(): number {
    return this.options.clock.monotonicMs() - this.#selectedAt;
  }

  override select(now: number): void {
    super.select(now);
    this.#selectedAt = this.options.clock.monotonicMs();
    const name = ["budget", ...this.#holder, this.per, this.since];
    if (this.#share?.name.every((part, n) => part === name[n])) return;
    const reserved = this.#share?.reserved ?? this.#carried;
    this.#share = new LimitShare(name, false, this.options);
    this.#share.reserve(reserved);
    this.#others = 0n;
  }

  override leftOf(budget: Budget): Money {
    this.#amount = budget.amount;
    return super.leftOf(budget) - this.#others;
  }

  override reserve(amount: Money): void {
    super.reserve(amount);
    if (this.#share === null) this.#carried += amount;
    else this.#share.reserve(amount);
  }

  override settle(reserved: Money, charged: Money, now: number): void {
    super.settle(reserved, charged, now);
    if (this.#share === null) this.#carried -= reserved;
    else this.#share.settle(reserved, charged);
  }
}
