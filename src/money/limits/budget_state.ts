import type { Money } from "../../platform/lib/basics/money.ts";
import type { Budget, BudgetPeriod } from "./access_limits.ts";
import type { Spent } from "./spent_reader.ts";

/** The present period of a budget. */
export interface CalendarPeriod {
  /** Its start in Unix milliseconds, inclusive; 0 for all time. */
  readonly since: number;
  /** Its end in Unix milliseconds, exclusive: the reset. Null for all time. */
  readonly until: number | null;
}

const DAY_MS = 86_400_000;
const DAYS_OF_WEEK = 7;
/** The first day of Unix time was a Thursday, the fourth day of a week that starts on Monday (ISO 8601). */
const FIRST_MONDAY_DAY = -3;

/** The calendar period in UTC that an instant belongs to. */
export function budgetPeriodAt(per: BudgetPeriod, at: number): CalendarPeriod {
  switch (per) {
    case "day":
      return daysFrom(Math.floor(at / DAY_MS), 1);
    case "week": {
      const day = Math.floor(at / DAY_MS) - FIRST_MONDAY_DAY;
      return daysFrom(day - day % DAYS_OF_WEEK + FIRST_MONDAY_DAY, DAYS_OF_WEEK);
    }
    case "month": {
      const date = new Date(at);
      const [year, month] = [date.getUTCFullYear(), date.getUTCMonth()];
      return { since: Date.UTC(year, month), until: Date.UTC(year, month + 1) };
    }
    case "total":
      return { since: 0, until: null };
  }
}

function daysFrom(day: number, days: number): CalendarPeriod {
  return { since: day * DAY_MS, until: (day + days) * DAY_MS };
}

/**
 * What a budget has left in periods of one kind. The amount spent is read from the ledger, and then counted here. It is
 * read again in the next period, and after others wrote to the ledger.
 */
export class BudgetState {
  #since = 0;
  #until: number | null = 0;
  #spent: Money | null = null;
  #isWanted = false;
  #reserved: Money;

  /** @param reserved The reservations of the calls that are open already. */
  constructor(readonly per: BudgetPeriod, reserved: Money) {
    this.#reserved = reserved;
  }

  /** The start of the selected period, for reading what was spent in it. */
  get since(): number {
    return this.#since;
  }

  /** The end of the selected period in Unix milliseconds; null for none. */
  get until(): number | null {
    return this.#until;
  }

  /** Whether the amount spent in the selected period is known. */
  get isLoaded(): boolean {
    return this.#spent !== null;
  }

  /** Whether a call waits for the amount spent, which is not known. */
  get isWanted(): boolean {
    return this.#isWanted;
  }

  /** Whether no call has a reservation. The amount spent can be read again. */
  get isIdle(): boolean {
    return this.#reserved === 0n;
  }

  /** Selects the period of an instant, for a call that needs to know what was spent in it. */
  select(now: number): void {
    if (!this.#has(now)) {
      const { since, until } = budgetPeriodAt(this.per, now);
      this.#since = since;
      this.#until = until;
      this.#spent = null;
    }
    this.#isWanted = this.#spent === null;
  }

  /** Sets what was spent in the selected period, with the charges that are not in the ledger. */
  load({ charged, held }: Spent, unwritten: Money): void {
    this.#spent = charged + held + unwritten;
    this.#isWanted = false;
  }

  /** Requires that the amount spent is read again. */
  invalidate(): void {
    this.#spent = null;
  }

  /**
   * What new calls can reserve of a budget; below zero if it is exceeded.
   *
   * @throws {Error} If the amount spent is not known.
   */
  leftOf({ amount }: Budget): Money {
    if (this.#spent === null) throw new Error("The budget was not loaded");
    return amount - this.#spent - this.#reserved;
  }

  /** Notes the reservation of a new call. */
  reserve(amount: Money): void {
    this.#reserved += amount;
  }

  /** Ends a reservation and counts the charge in the period of now. */
  settle(reserved: Money, charged: Money, now: number): void {
    this.#reserved -= reserved;
    if (this.#spent === null) return;
    if (this.#has(now)) this.#spent += charged;
    else this.#spent = null;
  }

  /** Also false if the clock was set back. */
  #has(now: number): boolean {
    return now >= this.#since && (this.#until === null || now < this.#until);
  }
}
