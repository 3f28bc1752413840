import type { Forecast } from "../billing/forecast.ts";
import { type MetricFamily, single } from "../lib/metric_family.ts";
import type { Money } from "../lib/money.ts";
import type { Key, Store } from "../store/store.ts";

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

/** Counts what a pass finds. */
export class SummaryBuilder {
  readonly #low: Record<string, number>;
  readonly #budgets: Record<string, number> = Object.fromEntries(BUDGET_LEVELS.map((level) => [level, 0]));
  #expiring = 0;
  #ending: EndingAccount[] = [];

  /** @param now Unix milliseconds. */
  constructor(private readonly now: number, thresholds: readonly { readonly text: string }[]) {
    this.#low = Object.fromEntries(thresholds.map(({ text }) => [text, 0]));
  }

  /** Notes how long a balance lasts. */
  addForecast(account: string, { left, spentPerDay, lastsUntil }: Forecast): void {
    if (lastsUntil === null || lastsUntil - this.now > ENDING_MS) return;
    this.#ending.push({ account, left, spentPerDay, lastsUntil });
    if (this.#ending.length >= 2 * MAX_ENDING) this.#ending = firstOf(this.#ending);
  }

  /** Counts an account below a threshold. */
  addLow(threshold: string): void {
    this.#low[threshold] = (this.#low[threshold] ?? 0) + 1;
  }

  /** Counts a budget at a level. */
  addBudget(level: number): void {
    this.#budgets[level] = (this.#budgets[level] ?? 0) + 1;
  }

  /** Counts a key or an account that expires soon. */
  addExpiring(): void {
    this.#expiring++;
  }

  /** Stores the result for all processes. */
  async write(store: Store): Promise<void> {
    const value: PassSummary = {
      low: this.#low,
      budgets: this.#budgets,
      expiring: this.#expiring,
      ending: firstOf(this.#ending),
    };
    await store.commit(null, { set: [{ key: SUMMARY, value }] });
  }
}

function firstOf(ending: readonly EndingAccount[]): EndingAccount[] {
  return ending.toSorted((one, other) => one.lastsUntil - other.lastsUntil).slice(0, MAX_ENDING);
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
