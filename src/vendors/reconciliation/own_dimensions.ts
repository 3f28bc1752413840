import { DAY_MS } from "../../money/billing/usage/usage_records.ts";
import type { Catalog, DatedCatalog } from "../catalog/catalog.ts";
import { exactCostOf } from "../../platform/lib/basics/money.ts";
import type { LoggedCharges } from "./logged_charges.ts";
import type { OwnRow } from "./own_sums.ts";

/** What the gateway charged by price keys. */
export interface OwnDimensions {
  /** `request_log`: what was charged. `price_list`: the ledger's tokens at the prices of the day. */
  readonly source: "request_log" | "price_list";
  /** In thousandths of 10^-18 USD. */
  readonly byKey: ReadonlyMap<string, { readonly quantity: number; readonly exact: bigint }>;
}

const NOON_MS = DAY_MS / 2;

/** The charges of some days by price key: those of the log, or what the ledger's tokens cost at the list's prices. */
export function ownDimensionsOf(
  rows: readonly OwnRow[],
  logged: LoggedCharges | null,
  catalog: DatedCatalog,
): OwnDimensions {
  if (logged?.isComplete) return { source: "request_log", byKey: logged.dimensions };
  const byKey = new Map<string, { quantity: number; exact: bigint }>();
  for (const row of rows) {
    const tariff = tariffOf(catalog.at(row.day * DAY_MS + NOON_MS), row);
    for (const [key, quantity] of Object.entries(quantitiesOf(row))) {
      if (quantity === 0 || tariff === undefined) continue;
      const found = byKey.get(key) ?? { quantity: 0, exact: 0n };
      byKey.set(key, found);
      found.quantity += quantity;
      found.exact += exactCostOf(quantity, tariff[key as keyof typeof tariff]);
    }
  }
  return { source: "price_list", byKey };
}

function tariffOf({ models }: Catalog, row: OwnRow) {
  return models.find(({ id }) => row.models.has(id))?.tariff;
}

/** Without the tokens of caches, which have prices of their own. */
function quantitiesOf({ counts }: OwnRow) {
  const { inputTokens, cacheReadTokens, cacheWriteTokens, outputTokens } = counts;
  const [read, written] = [cacheReadTokens ?? 0, cacheWriteTokens ?? 0];
  return {
    prompt: Math.max(0, (inputTokens ?? 0) - read - written),
    input_cache_read: read,
    input_cache_write_5m: written,
    completion: outputTokens ?? 0,
  } as const;
}
