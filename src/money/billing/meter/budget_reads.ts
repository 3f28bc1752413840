import type { Money } from "../../../platform/lib/basics/money.ts";
import type { ShareLeases } from "../../../platform/store/share_leases.ts";
import { storageUnavailable } from "../../../platform/store/write_health.ts";
import type { LimitBudgets } from "../../limits/limit_budgets.ts";
import type { MissingBudget } from "../../limits/limit_leases.ts";
import type { LimitShare } from "../../limits/limit_share.ts";
import { SharedBudget } from "../../limits/shared_limits.ts";
import type { SpentReader } from "../../limits/spent_reader.ts";
import type { ChargeQueue } from "../ledger/charge_queue.ts";

/** The dependencies of {@linkcode BudgetReads}. */
export interface BudgetReadsOptions {
  readonly account: string;
  readonly charges: ChargeQueue;
  readonly budgets: LimitBudgets;
  /** Reads what was spent of a budget. */
  readonly readSpent: SpentReader;
  /** Leases of the limits, if other processes have them too. Default: none do. */
  readonly shareLeases?: ShareLeases | null;
  /** A number that changes when others change what was spent. */
  readonly generation: () => number;
}

/** How often a budget is read when other processes return leases of it meanwhile. */
const MAX_BUDGET_ATTEMPTS = 8;

/**
 * Reads what the budgets of one account have spent, and leases parts of them, between the commits of its charges. So
 * each charge is either in the ledger or among those of the queue.
 */
export class BudgetReads {
  #loading: Promise<void> | null = null;
  /** Leases of budgets that are not begun. */
  readonly #leases = new Map<LimitShare, { units: Money; readonly leased: PromiseWithResolvers<void> }>();

  constructor(private readonly options: BudgetReadsOptions) {}

  /**
   * Reads what the budgets have spent that calls wait for, after the commit in progress. Callers that wait for the same
   * read share it. A budget may need another read afterwards, because others wrote to the ledger.
   *
   * @throws {GatewayError} `storage_unavailable` if the store cannot be read.
   */
  load(): Promise<void> {
    return this.#loading ??= new Promise<void>((resolve, reject) => {
      this.options.charges.runBetween(() =>
        this.#load().finally(() => this.#loading = null).then(resolve, (failure) => reject(storageUnavailable(failure)))
      );
    });
  }

  /**
   * Replaces the lease of a budget. Calls that wait for the same budget share a statement. Rejects as the store does.
   */
  lease(budget: MissingBudget): Promise<void> {
    const { share } = budget.state;
    const waiting = this.#leases.get(share);
    if (waiting !== undefined) {
      waiting.units += budget.units;
      return waiting.leased.promise;
    }
    const next = { units: budget.units, leased: Promise.withResolvers<void>() };
    this.#leases.set(share, next);
    this.options.charges.runBetween(() => {
      this.#leases.delete(share);
      return this.#lease({ ...budget, units: next.units }).then(next.leased.resolve, next.leased.reject);
    });
    return next.leased.promise;
  }

  /**
   * No charge of this process is written meanwhile. The leases are read before what was spent: what others charge in
   * between is in both or changes the version, so that the lease is refused and all is read again.
   */
  async #lease({ keyId, state, limit, units }: MissingBudget): Promise<void> {
    const { account, charges, shareLeases = null, readSpent } = this.options;
    const { since, share } = state;
    const generation = this.options.generation();
    for (let attempt = 0; shareLeases !== null && attempt < MAX_BUDGET_ATTEMPTS; attempt++) {
      const reading = await shareLeases.read(share.name);
      const spent = await readSpent(account, keyId, since);
      if (generation !== this.options.generation() || share !== state.share) return;
      const unwritten = charges.unwrittenSince(since, keyId);
      state.load(spent, unwritten);
      state.others = reading.others;
      share.setUsed(unwritten);
      const left = limit - spent.charged - spent.held;
      const answer = await share.lease(units, left > 0n ? left : 0n, reading);
      if (answer !== null) return void (state.others = answer.others);
    }
  }

  /** No charge is written during the read, so each is either in the ledger or among those of the queue. */
  async #load(): Promise<void> {
    const { account, charges, budgets, shareLeases = null, readSpent } = this.options;
    for (const { keyId, state } of budgets.wanted()) {
      const { since } = state;
      // What others changed before this read is in it.
      const generation = this.options.generation();
      if (state instanceof SharedBudget && shareLeases !== null) {
        state.others = (await shareLeases.read(state.share.name)).others;
      }
      const spent = await readSpent(account, keyId, since);
      const isCurrent = generation === this.options.generation() && since === state.since;
      if (isCurrent) state.load(spent, charges.unwrittenSince(since, keyId));
    }
  }
}
