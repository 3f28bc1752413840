import { assert, assertEquals } from "@std/assert";
import { createAccount } from "../../../src/money/billing/accounts/account.ts";
import { addCharge } from "../../../src/money/billing/ledger/charge.ts";
import { DAY_MS, USAGE_DAYS, type UsageDay } from "../../../src/money/billing/usage/usage_records.ts";
import { sumUsage } from "../../../src/money/billing/usage/usage_report.ts";
import { UsageRollup } from "../../../src/money/billing/usage/usage_rollup.ts";
import { verifyLedger } from "../../../src/money/billing/verify_ledger.ts";
import type { Clock } from "../../../src/platform/lib/basics/clock.ts";
import { silentLog } from "../../../src/platform/lib/basics/log.ts";
import type { Store } from "../../../src/platform/store/store.ts";

const CHARGES = 10;
const ROWS = 60;

/**
 * A day with many long names is copied within the limits of the store.
 *
 * @param store An empty one.
 */
export async function copyLongNames(store: Store, clock: Clock): Promise<void> {
  await createAccount(store, { id: "acme", balance: 1_000_000n });
  const at = clock.now() - DAY_MS;
  const usage = { freshTokens: 123_456_789, outputTokens: 123_456_789, reasoningTokens: 1, imagesMade: 1 };
  for (let charge = 0; charge < CHARGES; charge++) {
    const rows = Array.from({ length: ROWS }, (_, nth) => ({
      requestId: `req_${nth}`,
      kind: "text" as const,
      at,
      keyId: `key_${nth}`,
      model: `${"模".repeat(180)}${charge}-${nth}`,
      provider: `vendor-${nth}`,
      amount: 10_000_000_000_000_000n,
      usage,
    }));
    await store.commit(null, addCharge({}, { account: "acme", reference: `charge_${charge}`, rows }));
  }
  const rollup = new UsageRollup({ store, clock, log: silentLog });
  await rollup.foldAll();
  await rollup.copyDays();
  const [day] = await store.scan<UsageDay>(USAGE_DAYS, { limit: 1 });
  assert(day?.value.blocks !== null && Number(day?.value.blocks.records) > 3);
  const query = { fromDay: 0, toDay: Infinity, only: {} };
  for (const groupBy of [["model"], ["key", "model"]] as const) {
    const { groups, total } = await sumUsage(store, { ...query, groupBy });
    assertEquals([groups.length, total.cost], [CHARGES * ROWS, 6_000_000_000_000_000_000n]);
  }
  assertEquals((await verifyLedger(store)).differences, []);
}
