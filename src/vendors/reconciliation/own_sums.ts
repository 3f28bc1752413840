import type { UsageReports } from "../../money/billing/usage/usage_report.ts";
import { USAGE } from "../../money/billing/usage/usage_records.ts";
import { bareNameOf, type Catalog } from "../catalog/catalog.ts";
import { withoutVersionDate } from "../catalog/model_name.ts";
import type { Money } from "../../platform/lib/basics/money.ts";
import type { Store } from "../../platform/store/store.ts";
import { addCounts, type Counts } from "./counted.ts";
import type { ReportRange } from "./vendor_report.ts";

/** What the ledger has for one model of a vendor on one day. */
export interface OwnRow {
  readonly day: number;
  /** The vendor's name of the model. */
  readonly name: string;
  /** The ids of the gateway's models. */
  readonly models: Set<string>;
  cost: Money;
  counts: Counts;
  /** Requests whose tokens the gateway counted itself. */
  estimated: number;
}

/** The ledger's part of a comparison. */
export interface OwnSums {
  readonly rows: readonly OwnRow[];
  /** The name under which a model of the vendor's report is in the rows. */
  readonly nameOf: (reported: string) => string;
  /** The first day of which the ledger has anything; null if it is empty. */
  readonly firstDay: number | null;
}

const SEPARATOR = "\0";

/** What the ledger is read from. */
export interface OwnSumsParts {
  readonly usage: UsageReports;
  readonly store: Store;
  readonly catalog: Catalog;
}

/**
 * Sums the charges of a provider by day and by the vendor's name of the model. The sums agree with the ledger to the
 * last unit, and stay as long as the store.
 *
 * @throws {GatewayError} As `UsageReports.report`.
 */
export async function readOwnSums(
  { usage, store, catalog }: OwnSumsParts,
  provider: string,
  { fromDay, toDay }: ReportRange,
): Promise<OwnSums> {
  const { groups } = await usage.report({ groupBy: ["day", "model"], only: { provider }, fromDay, toDay });
  const rows = new Map<string, OwnRow>();
  for (const { values: [day, model], sums } of groups) {
    const name = vendorNameOf(catalog, provider, String(model));
    const key = `${day}${SEPARATOR}${name}`;
    const { cost, counts: [requests = 0, estimated = 0, inputTokens = 0, cacheReadTokens = 0, ...others] } = sums;
    const [cacheWriteTokens = 0, outputTokens = 0] = others;
    const counts = { requests, inputTokens, cacheReadTokens, cacheWriteTokens, outputTokens };
    const row = rows.get(key);
    if (row === undefined) {
      rows.set(key, { day: Number(day), name, models: new Set([String(model)]), cost, counts, estimated });
      continue;
    }
    row.models.add(String(model));
    row.cost += cost;
    row.counts = addCounts(row.counts, counts);
    row.estimated += estimated;
  }
  const list = [...rows.values()];
  return { rows: list, nameOf: nameIn(new Set(list.map(({ name }) => name))), firstDay: await firstDayOf(store) };
}

/** The vendor's name of a model. A model that the catalog no longer has keeps the end of its id. */
function vendorNameOf(catalog: Catalog, provider: string, id: string): string {
  const model = catalog.models.find((each) => each.id === id);
  const serving = model?.serves.find((each) => each.provider === provider);
  return serving?.model ?? bareNameOf(id);
}

/** Vendors report the dates of versions, also for names without one. A date tells versions apart where both exist. */
function nameIn(names: ReadonlySet<string>): OwnSums["nameOf"] {
  const dated = new Map([...names].map((name) => [withoutVersionDate(name), name]));
  return (reported) => {
    if (names.has(reported)) return reported;
    const plain = withoutVersionDate(reported);
    return names.has(plain) ? plain : dated.get(reported) ?? reported;
  };
}

async function firstDayOf(store: Store): Promise<number | null> {
  const [first] = await store.scan(USAGE, { limit: 1 });
  return first === undefined ? null : Number(first.key[USAGE.length]);
}
