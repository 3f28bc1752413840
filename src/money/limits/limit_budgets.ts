import type { AccessLimits } from "./access_limits.ts";
import type { BudgetState } from "./budget_state.ts";
import type { BudgetLeft } from "./limit_refusal.ts";
import { budgetStateOf, type HolderState, type LimitStates } from "./limit_states.ts";
import type { LimitedCaller } from "./limited_caller.ts";
import { budgetLeftOf } from "./limits_left.ts";

/** A budget whose spent amount must be read. */
export interface WantedBudget {
  /** Null for the account's. */
  readonly keyId: string | null;
  readonly state: BudgetState;
}

/** The clocks of budgets. */
export interface BudgetClocks {
  /** The time of the store in Unix milliseconds. */
  readonly now: () => number;
  readonly monotonicMs: () => number;
}

/** The budgets of one account and its keys: whether what was spent of them is known, and what they leave. */
export class LimitBudgets {
  constructor(private readonly states: LimitStates, private readonly clocks: BudgetClocks) {}

  /**
   * Whether the amounts spent of a caller's budgets are known. Those that are not become
   * {@linkcode LimitBudgets.wanted}.
   */
  isLoaded({ keyId, limits }: LimitedCaller): boolean {
    if (limits === null) return true;
    const { states, clocks } = this;
    const key = this.#selected(limits.key, () => states.withKey(keyId, limits.key, clocks.monotonicMs()));
    const account = this.#selected(limits.account, () => states.withAccount(limits.account, clocks.monotonicMs()));
    return (key === null || key.isLoaded) && (account === null || account.isLoaded);
  }

  /** The budgets whose spent amount must be read, because calls wait for it. */
  wanted(): WantedBudget[] {
    const wanted: WantedBudget[] = [];
    for (const [keyId, { budgets }] of this.states.all()) {
      for (const state of budgets) if (state.isWanted) wanted.push({ keyId, state });
    }
    return wanted;
  }

  /** Requires that the amounts spent are read again, because others wrote to the ledger. */
  invalidate(): void {
    for (const [, { budgets }] of this.states.all()) for (const budget of budgets) budget.invalidate();
  }

  /**
   * The budget of a caller that leaves the least; null if it has none.
   *
   * @throws {Error} If its budgets are not loaded.
   */
  left({ keyId, limits }: LimitedCaller): BudgetLeft | null {
    if (limits === null) return null;
    const key = budgetLeftOf("key", limits.key, this.states.key(keyId));
    const account = budgetLeftOf("account", limits.account, this.states.account);
    if (key === null || account === null) return key ?? account;
    return account.left < key.left ? account : key;
  }

  #selected(limits: AccessLimits, stateOf: () => HolderState | null): BudgetState | null {
    if (limits.budget === undefined) return null;
    const state = budgetStateOf(stateOf(), limits);
    state?.select(this.clocks.now());
    return state;
  }
}
