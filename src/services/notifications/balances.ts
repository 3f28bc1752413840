import type { Account } from "../../money/billing/accounts/account.ts";
import { type Forecast, readForecast } from "../../money/billing/forecast.ts";
import { shownOverdraft } from "../../money/billing/accounts/unlimited_balance.ts";
import { type BalanceThreshold, thresholdIn } from "./notifications_section.ts";
import { secondsOf } from "../../platform/lib/basics/clock.ts";
import type { JsonObject } from "../../platform/lib/json/json_object.ts";
import { writeMoney } from "../../platform/lib/basics/money.ts";
import type { Pass } from "./pass.ts";

const DAY_MS = 86_400_000;
/**
 * A threshold of days is over when the balance lasts a quarter longer. The present rate changes during a day, and would
 * cross one limit again and again.
 */
const DAYS_OVER = 1.25;

/**
 * Sends `balance.low` for the thresholds that an account has fallen below. Each is sent once until the balance was
 * above it again, also after it was removed from the configuration.
 */
export async function checkBalance(pass: Pass, account: Account): Promise<void> {
  const { store, causes, thresholds, summary } = pass;
  const forecast = await readForecast(store, account);
  summary.addForecast(account.id, forecast);
  const sent = new Set(causes["balance.low"].below(account.id).map(([, text = ""]) => text));
  for (const text of sent) {
    const threshold = thresholdIn(text);
    if (threshold !== null && !isAbove(forecast, threshold, pass.now)) causes["balance.low"].keep([account.id, text]);
  }
  for (const threshold of thresholds) {
    if (!isBelow(forecast, threshold, pass.now)) continue;
    if (!sent.has(threshold.text)) {
      if (!await hasHadMoney(pass, account)) continue;
      await pass.announce({
        event: "balance.low",
        cause: [account.id, threshold.text],
        account: account.id,
        data: { account: account.id, threshold: threshold.text, ...writeForecast(account, forecast) },
        logged: { reason: `The balance is below ${threshold.text}`, cost: writeMoney(forecast.left) },
      });
    }
    summary.addLow(threshold.text);
  }
}

/** An account that was created without money is not at the end of it. */
async function hasHadMoney({ store }: Pass, { id }: Account): Promise<boolean> {
  return (await store.ledger(id, { limit: 1 })).length > 0;
}

function isBelow({ left, lastsUntil }: Forecast, threshold: BalanceThreshold, now: number): boolean {
  if ("amount" in threshold) return left < threshold.amount;
  return lastsUntil !== null && lastsUntil - now < threshold.days * DAY_MS;
}

function isAbove({ left, lastsUntil }: Forecast, threshold: BalanceThreshold, now: number): boolean {
  if ("amount" in threshold) return left >= threshold.amount;
  if (left <= 0n) return false;
  return lastsUntil === null || lastsUntil - now >= threshold.days * DAY_MS * DAYS_OVER;
}

function writeForecast(account: Account, { spentPerDay, lastsUntil }: Forecast): JsonObject {
  return {
    balance: writeMoney(account.available),
    overdraft: writeMoney(shownOverdraft(account)),
    spent_per_day: writeMoney(spentPerDay),
    lasts_until: lastsUntil === null ? null : secondsOf(lastsUntil),
  };
}
