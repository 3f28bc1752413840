import type { Money } from "../../platform/lib/basics/money.ts";
import type { Store } from "../../platform/store/store.ts";
import type { Account } from "./accounts/account.ts";
import { isUnlimited } from "./accounts/unlimited_balance.ts";
import { accountSpentOf, DAY_MS } from "./usage/usage_records.ts";

/** How long the balance of an account lasts. */
export interface Forecast {
  /** What the account can still spend: its balance and its overdraft. */
  readonly left: Money;
  /** The present rate in a day. Zero without charges in the last week. */
  readonly spentPerDay: Money;
  /** When nothing is left at that rate, in Unix milliseconds; null if that is never, or after a century. */
  readonly lastsUntil: number | null;
}

/** The days that the rate is a mean of, with the present day: the last week, and the last two days. */
const LONG_DAYS = 7;
const SHORT_DAYS = 2;
const MAX_DAYS = 36_500n;

/** What an account spent on one day. */
interface DaySpent {
  /** Days since 1970, UTC. */
  readonly day: number;
  readonly amount: Money;
}

/**
 * Forecasts how long a balance lasts, by the usage that is summed: up to a minute before now.
 *
 * The rate is the mean of the last seven days or of the last two days, whichever is higher, so that a sudden rise
 * counts soon and a quiet day does not count much. Both end now, and begin with the account if it is younger, but at
 * least a day ago.
 */
export async function readForecast(store: Store, account: Account): Promise<Forecast> {
  const now: number = store.now();
  const today = Math.floor(now / DAY_MS);
  const spent = accountSpentOf(account.id);
  const entries = await store.scan<Money>(spent, { after: [...spent, today - LONG_DAYS], limit: LONG_DAYS });
  const days = entries.map(({ key, value }): DaySpent => ({ day: Number(key.at(-1)), amount: value }));
  const rateOf = (count: number) => meanOf(days, { now, firstDay: today - count + 1, createdAt: account.createdAt });
  const [long, short] = [rateOf(LONG_DAYS), rateOf(SHORT_DAYS)];
  return forecastOf(account, long > short ? long : short, now);
}

function meanOf(
  days: readonly DaySpent[],
  { now, firstDay, createdAt }: { readonly now: number; readonly firstDay: number; readonly createdAt: number },
): Money {
  const sum = days.reduce((total, { day, amount }) => day < firstDay ? total : total + amount, 0n);
  const elapsedMs = Math.max(now - Math.max(firstDay * DAY_MS, createdAt), DAY_MS);
  return sum * BigInt(DAY_MS) / BigInt(Math.ceil(elapsedMs));
}

function forecastOf(account: Account, spentPerDay: Money, now: number): Forecast {
  const { available, overdraft = 0n } = account;
  const left = available + overdraft;
  if (isUnlimited(account) || spentPerDay <= 0n || left > spentPerDay * MAX_DAYS) {
    return { left, spentPerDay, lastsUntil: null };
  }
  const lastsMs = left <= 0n ? 0 : Number(left * BigInt(DAY_MS) / spentPerDay);
  return { left, spentPerDay, lastsUntil: now + lastsMs };
}
