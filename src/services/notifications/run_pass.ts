import { type Account, allBalances } from "../../money/billing/accounts/account.ts";
import { scanAllKeys } from "../../money/billing/keys/issued_key.ts";
import type { LedgerMeter } from "../../money/billing/meter/meter.ts";
import type { UsageRollup } from "../../money/billing/usage/usage_rollup.ts";
import type { Model } from "../../vendors/catalog/model.ts";
import { TurnPace } from "../../platform/lib/streams/turn_pace.ts";
import { announce, type AnnounceParts } from "./announce.ts";
import { checkBalance } from "./balances.ts";
import { checkBudget } from "./budgets.ts";
import { OpenCauses } from "./causes.ts";
import { checkModels } from "./deprecated_models.ts";
import { checkExpiry } from "./expiry.ts";
import type { Pass } from "./pass.ts";
import { SummaryBuilder } from "./summary.ts";

/** The dependencies of a pass. */
export interface PassParts extends AnnounceParts {
  /** Writes charges that wait in the journal to the ledger. */
  readonly meter: Pick<LedgerMeter, "settleAll">;
  readonly usageRollup: Pick<UsageRollup, "foldAll" | "spentSince">;
  /** Gives the current models. */
  readonly models: () => readonly Model[];
}

/**
 * Looks at all accounts, keys and models once, and sends the notifications that are due.
 *
 * @throws What the store and {@linkcode UsageRollup.foldAll} throw. A repeat goes on where it ended.
 */
export async function runPass(parts: PassParts): Promise<void> {
  const { store, usageRollup, config, meter, models } = parts;
  await meter.settleAll().catch(() => {}); // the meter logs and retries; the ledger is used as it is
  await usageRollup.foldAll();
  const now = store.now();
  const { balanceLow: thresholds } = config();
  const pass: Pass = {
    store,
    now,
    thresholds,
    causes: {
      "balance.low": await OpenCauses.read(store, "balance.low"),
      "budget.reached": await OpenCauses.read(store, "budget.reached"),
      "key.expiring": await OpenCauses.read(store, "key.expiring"),
    },
    summary: new SummaryBuilder(now, thresholds),
    pace: new TurnPace(),
    announce: (notification) => announce(parts, notification),
    spentSince: (account, key, since) => usageRollup.spentSince(account, key, since),
  };
  await checkKeys(pass, await checkAccounts(pass));
  await checkModels(pass, models());
  for (const causes of Object.values(pass.causes)) await causes.endOthers(store);
  await pass.summary.write(store);
}

/** Returns the ids of the active accounts. */
async function checkAccounts(pass: Pass): Promise<ReadonlySet<string>> {
  const active = new Set<string>();
  for await (const account of allBalances(pass.store)) {
    await pass.pace.note();
    if (account.suspendedAt === null) {
      active.add(account.id);
      await checkAccount(pass, account);
    } else if (account.erasure === undefined) keepCauses(pass, account.id);
  }
  return active;
}

async function checkAccount(pass: Pass, account: Account): Promise<void> {
  const { id, name = null, createdAt, expiresAt, limits } = account;
  const holder = { account: id, key: null, name };
  await checkBalance(pass, account);
  if (limits?.budget !== undefined) await checkBudget(pass, holder, limits.budget);
  if (expiresAt !== undefined) await checkExpiry(pass, holder, { createdAt, expiresAt });
}

/** What was sent before a suspension is not sent again after it. */
function keepCauses({ causes }: Pass, account: string): void {
  for (const open of Object.values(causes)) for (const cause of open.below(account)) open.keep(cause);
}

async function checkKeys(pass: Pass, active: ReadonlySet<string>): Promise<void> {
  for await (const { id, account, name = null, createdAt, expiresAt, revokedAt, limits } of scanAllKeys(pass.store)) {
    await pass.pace.note();
    if (revokedAt !== null || !active.has(account)) continue;
    const holder = { account, key: id, name };
    if (limits?.budget !== undefined) await checkBudget(pass, holder, limits.budget);
    if (expiresAt !== undefined) await checkExpiry(pass, holder, { createdAt, expiresAt });
  }
}
