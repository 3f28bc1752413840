import type { Forecast } from "../../money/billing/forecast.ts";
import type { Budget } from "../../money/limits/access_limits.ts";
import type { Holder } from "./holder.ts";
import { type MetricFamily, single } from "../../platform/lib/basics/metric_family.ts";
import type { Money } from "../../platform/lib/basics/money.ts";
import type { Key, Store } from "../../platform/store/store.ts";

/** The shares of a budget in percent at which `budget.reached` is sent. */
export const BUDGET_LEVELS = [50, 80, 100] as const;

/** The result of the last pass of any process. */
export interface PassSummary {
  /** Accounts below each threshold, by its text. */
  readonly low: Readonly<Record<string, number>>;
  /** Budgets that have reached each level in percent. */
  readonly budgets: Readonly<Record<string, number>>;
  /** Keys and accounts that expire soon. */
  readonly expiring: number;
  /** The accounts whose balances last the shortest, the first one first. */
  readonly ending: readonly EndingAccount[];
  /** The most spent budgets, the most spent one first. Absent in records of earlier versions. */
  readonly spentBudgets?: readonly SpentBudget[];
  /** Keys and accounts that expire soon, the first one first. Absent in records of earlier versions. */
  readonly expiringKeys?: readonly ExpiringKey[];
}

/** What is near its end, as the last pass found it. */
export interface NearEnds {
  readonly accounts: readonly EndingAccount[];
  readonly budgets: readonly SpentBudget[];
  readonly keys: readonly ExpiringKey[];
}

/** A budget of which at least four fifths are spent in its present period. */
export interface SpentBudget extends Holder, Budget {
  /** With what is held for videos. */
  readonly spent: Money;
  /** Unix milliseconds; null if the period is the whole life. */
  readonly resetsAt: number | null;
}

/** A key, or an account with all its keys, that expires within a week. */
export interface ExpiringKey extends Holder {
  /** Unix milliseconds. */
  readonly expiresAt: number;
}

/** An account whose balance ends within a month at the present rate. */
export interface EndingAccount {
  readonly account: string;
  readonly left: Money;
  readonly spentPerDay: Money;
  /** Unix milliseconds. */
  readonly lastsUntil: number;
}

const SUMMARY: Key = ["notification", "summary"];
const MAX_ENDING = 10;
const ENDING_MS = 30 * 86_400_000;
/** The part of a budget in percent from which on it is near its end. */
const SPENT_PERCENT = 80n;

/** Counts what a pass finds. */
export class SummaryBuilder {
  readonly #low: Record<string, number>;
  readonly #budgets: Record<string, number> = Object.fromEntries(BUDGET_LEVELS.map((level) => [level, 0]));
  #expiring = 0;
  #ending: EndingAccount[] = [];
  #spentBudgets: SpentBudget[] = [];
  #expiringKeys: ExpiringKey[] = [];

  /** @param now Unix milliseconds. */
  constructor(private readonly now: number, thresholds: readonly { readonly text: string }[]) {
    this.#low = Object.fromEntries(thresholds.map(({ text }) => [text, 0]));
  }

  /** Notes how long a balance lasts. */
  addForecast(account: string, { left, spentPerDay, lastsUntil }: Forecast): void {
    if (lastsUntil === null || lastsUntil - this.now > ENDING_MS) return;
    this.#ending = withOne(this.#ending, { account, left, spentPerDay, lastsUntil }, byEnd);
  }

  /** Notes what is spent of a budget. */
  addSpent(budget: SpentBudget): void {
    if (budget.spent * 100n < budget.amount * SPENT_PERCENT) return;
    this.#spentBudgets = withOne(this.#spentBudgets, budget, bySpent);
  }

  /** Counts an account below a threshold. */
  addLow(threshold: string): void {
    this.#low[threshold] = (this.#low[threshold] ?? 0) + 1;
  }

  /** Counts a budget at a level. */
  addBudget(level: number): void {
    this.#budgets[level] = (this.#budgets[level] ?? 0) + 1;
  }

  /** Notes a key or an account that expires soon. */
  addExpiring(key: ExpiringKey): void {
    this.#expiring++;
    this.#expiringKeys = withOne(this.#expiringKeys, key, (one, other) => one.expiresAt - other.expiresAt);
  }

  /** Stores the result for all processes. */
  async write(store: Store): Promise<void> {
    const value: PassSummary = {
      low: this.#low,
      budgets: this.#budgets,
      expiring: this.#expiring,
      ending: this.#ending,
      spentBudgets: this.#spentBudgets,
      expiringKeys: this.#expiringKeys,
    };
    await store.commit(null, { set: [{ key: SUMMARY, value }] });
  }
}

/** A sorted list with one more item, without those after the tenth. */
function withOne<T>(list: readonly T[], item: T, compare: (one: T, other: T) => number): T[] {
  return [...list, item].toSorted(compare).slice(0, MAX_ENDING);
}

function byEnd(one: EndingAccount, other: EndingAccount): number {
  return one.lastsUntil - other.lastsUntil;
}

/** The larger part first: `a / b > c / d` if `a * d > c * b`. */
function bySpent(one: SpentBudget, other: SpentBudget): number {
  const [first, second] = [one.spent * other.amount, other.spent * one.amount];
  return first === second ? 0 : first > second ? -1 : 1;
}

/** Reads what the last pass found near its end. */
export async function readNearEnds(store: Pick<Store, "get">): Promise<NearEnds> {
  const { ending = [], spentBudgets = [], expiringKeys = [] } = await readSummary(store) ?? {};
  return { accounts: ending, budgets: spentBudgets, keys: expiringKeys };
}

/** Reads the result of the last pass; null before the first one. */
export async function readSummary(store: Pick<Store, "get">): Promise<PassSummary | null> {
  const [entry = null] = await store.get<PassSummary>([SUMMARY]);
  return entry?.value ?? null;
}

/** The gauges of the last pass. Thresholds are those of the configuration, so their number is bounded. */
export async function notificationFamilies(store: Pick<Store, "get">): Promise<MetricFamily[]> {
  const { low = {}, budgets = {}, expiring = 0 } = await readSummary(store) ?? {};
  return [
    {
      name: "switchyard_accounts_low",
      help: "Accounts whose balance is below each threshold of notifications.balance_low.",
      type: "gauge",
      samples: Object.entries(low).map(([threshold, value]) => ({ labels: { threshold }, value })),
    },
    {
      name: "switchyard_budgets_reached",
      help: "Budgets of accounts and keys that have reached each level, in percent, in their present period.",
      type: "gauge",
      samples: BUDGET_LEVELS.map((level) => ({ labels: { level: String(level) }, value: budgets[level] ?? 0 })),
    },
    single("gauge", "switchyard_keys_expiring", "Keys and accounts that expire within a week.", expiring),
  ];
}
