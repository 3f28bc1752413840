import { type Account, readAccount } from "../../../money/billing/accounts/account.ts";
import type { Forecast } from "../../../money/billing/forecast.ts";
import { isUnlimited, shownOverdraft } from "../../../money/billing/accounts/unlimited_balance.ts";
import { writeLimits } from "../../../money/limits/limit_changes.ts";
import { secondsOf } from "../../../platform/lib/basics/clock.ts";
import type { JsonObject } from "../../../platform/lib/json/json_object.ts";
import { writeMoney } from "../../../platform/lib/basics/money.ts";
import type { Store } from "../../../platform/store/store.ts";

/** Reads an account as it is shown; null if it does not exist. */
export async function shownAccount(store: Store, id: string): Promise<JsonObject | null> {
  return await readAccount(store, id).then(writeAccount, () => null);
}

/** An account as the admin API shows it. */
export function writeAccount(account: Account): JsonObject {
  const { id, name, createdAt, allowBuckets = [], available, held, limits, erasure } = account;
  const { expiresAt, metadata = {}, capture = "none", promptCaching = "auto" } = account;
  const { notificationUrl = null, webhookFormat = "service" } = account;
  return {
    id,
    name: name ?? null,
    status: statusOf(account),
    created_at: secondsOf(createdAt),
    ...erasure?.endedAt && { erased_at: secondsOf(erasure.endedAt) },
    allow_buckets: allowBuckets,
    balance: writeMoney(available),
    held: writeMoney(held),
    overdraft: writeMoney(shownOverdraft(account)),
    unlimited: isUnlimited(account),
    expires_at: expiresAt === undefined ? null : secondsOf(expiresAt),
    ...writeLimits(limits),
    metadata,
    capture,
    prompt_caching: promptCaching,
    notification_url: notificationUrl,
    webhook_format: webhookFormat,
  };
}

/** How long a balance lasts, as the admin API shows it. */
export function writeForecast({ spentPerDay, lastsUntil }: Pick<Forecast, "spentPerDay" | "lastsUntil">): JsonObject {
  return {
    spent_per_day: writeMoney(spentPerDay),
    lasts_until: lastsUntil === null ? null : secondsOf(lastsUntil),
  };
}

function statusOf({ suspendedAt, erasure }: Account): string {
  if (erasure !== undefined) return erasure.endedAt === null ? "erasing" : "erased";
  return suspendedAt === null ? "active" : "suspended";
}
