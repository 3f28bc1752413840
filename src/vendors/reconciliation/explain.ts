import { TOKEN_PRICES as TOKEN_NAMES } from "../../money/billing/prices/tariff.ts";
import type { DatedCatalog } from "../catalog/catalog.ts";
import { counted } from "../../platform/lib/text/counted.ts";
import { type Money, writeMoney } from "../../platform/lib/basics/money.ts";
import type { ComparedRow } from "./compare.ts";
import { type ExplainedDimension, explainedDimensions, priceText } from "./explained_dimensions.ts";
import type { LoggedCharges, LoggedGroup } from "./logged_charges.ts";
import { type OwnDimensions, ownDimensionsOf } from "./own_dimensions.ts";
import { likelyPrices } from "./likely_prices.ts";
import type { Reason, ReasonKind } from "./reason.ts";

const TOKEN_PRICES: ReadonlySet<string> = TOKEN_NAMES;

/** A large difference with what can explain it. */
export interface Explanation {
  readonly row: ComparedRow;
  readonly dimensions: readonly ExplainedDimension[];
  /** Where our part of the dimensions comes from. */
  readonly source: OwnDimensions["source"];
  /** At least one. */
  readonly reasons: readonly Reason[];
}

/** A row with what the log of requests has about it. */
export interface LoggedRow {
  readonly row: ComparedRow;
  /** Null if it is not known. */
  readonly logged: LoggedCharges | null;
}

/** Explains the differences of rows, together: a price is found by more than one day of a model. */
export function explain(rows: readonly LoggedRow[], catalog: DatedCatalog): Explanation[] {
  const withOwn = rows.map(({ row, logged }) => ({ row, logged, own: ownDimensionsOf(row.own, logged, catalog) }));
  const likely = likelyPrices(withOwn);
  return withOwn.map((each) => {
    const dimensions = explainedDimensions(each.row, each.own);
    const reasons = [
      ...countReasons(each),
      ...dimensions.flatMap((dimension) => dimensionReasons(dimension, each)),
      ...likely.get(each.row) ?? [],
      ...groupReasons(each),
    ];
    return { row: each.row, dimensions, source: each.own.source, reasons: shown(reasons, each) };
  });
}

interface Explained extends LoggedRow {
  readonly own: OwnDimensions;
}

/** Rounding explains a difference alone. */
function shown(reasons: readonly Reason[], { row, logged }: Explained): readonly Reason[] {
  const { difference, ours } = row;
  const amount = difference.cost < 0n ? -difference.cost : difference.cost;
  if (row.own.length > 0 && amount <= BigInt(ours.counts.requests ?? 0)) {
    const text = "The vendor rounds sums, and the gateway rounds each request to 0.0000000001 USD";
    return [{ kind: "rounding", text, dimension: null, amount: difference.cost, requests: [] }];
  }
  if (reasons.length > 0) return reasons;
  const text = "Nothing in the vendor's report and in the gateway's records explains it";
  return [{ kind: "unknown", text, dimension: null, amount: null, requests: idsOf(logged?.all) }];
}

/** Whether one side has requests that the other lacks. */
function countReasons({ row, logged }: Explained): Reason[] {
  const { theirs, ours, difference, vendor, own } = row;
  if (vendor !== null && !vendor.isModel) {
    const text = "The vendor bills it for all models together; the gateway charges it with the model that used it";
    return [{ kind: "not_of_a_model", text, dimension: vendor.name, amount: difference.cost, requests: [] }];
  }
  if (own.length === 0) {
    const text = "The gateway made no call of this model: other programs use the vendor's account, or another provider";
    return [{ kind: "not_seen", text, dimension: null, amount: theirs.cost, requests: [] }];
  }
  if (vendor === null) {
    const text = "The vendor reports nothing of this model: the calls went elsewhere, or its report is late";
    return [{ kind: "not_billed", text, dimension: null, amount: -ours.cost, requests: idsOf(logged?.all) }];
  }
  const more = difference.counts.requests ?? 0;
  if (more === 0) return [];
  const text = more > 0
    ? `The vendor reports ${requestsText(more)} that the gateway did not charge`
    : `The gateway charged ${requestsText(-more)} that the vendor does not report`;
  return [{ kind: more > 0 ? "not_seen" : "not_billed", text, dimension: null, amount: null, requests: [] }];
}

function dimensionReasons(each: ExplainedDimension, { row, logged }: Explained): Reason[] {
  if (row.own.length === 0 || row.vendor === null || !row.vendor.isModel) return [];
  const { dimension, theirs, ours, conditions, isPriceDifferent, isQuantityDifferent } = each;
  const of = (kind: ReasonKind, text: string, amount: Money | null, requests: readonly string[] = []): Reason => (
    { kind, text: `${dimension}: ${text}`, dimension, amount, requests }
  );
  const difference = theirs.cost - ours.cost;
  if (ours.cost === 0n && theirs.cost > 0n) {
    return [of("unpriced", `the vendor bills ${usd(theirs.cost)}, the gateway charges nothing for it`, difference)];
  }
  if (theirs.cost === 0n && ours.cost > 0n && !TOKEN_PRICES.has(dimension)) {
    const text = `the gateway charges ${usd(ours.cost)} with the model; the vendor may bill it for all models together`;
    return [of("not_of_a_model", text, difference)];
  }
  const reasons: Reason[] = [];
  if (isPriceDifferent) {
    const prices = `the vendor bills ${priceText(theirs)} for a unit, the gateway charges ${priceText(ours)}`;
    const ids = idsOf(logged?.all);
    if (conditions.length > 0) {
      reasons.push(of("condition", `${prices}; the vendor names "${conditions.join('", "')}"`, difference, ids));
    } else reasons.push(of("price", prices, difference, ids));
  }
  if (isQuantityDifferent && theirs.quantity !== null && ours.quantity !== null) {
    const text = `the vendor counts ${theirs.quantity}, the gateway ${ours.quantity}`;
    reasons.push(of("tokens", text, isPriceDifferent ? null : difference));
  }
  return reasons;
}

/** Requests whose charges can differ from the bill. */
function groupReasons({ row, logged }: Explained): Reason[] {
  if (row.own.length === 0) return [];
  const reasons: Reason[] = [];
  const add = (kind: ReasonKind, group: LoggedGroup, text: string) => {
    if (group.count > 0) reasons.push({ kind, text, dimension: null, amount: null, requests: idsOf(group) });
  };
  const estimated = row.own.reduce((sum, each) => sum + each.estimated, 0);
  if (estimated > 0) {
    const text = `The gateway counted the tokens of ${
      requestsText(estimated)
    } itself, since the vendor reported none to it`;
    const requests = idsOf(logged?.estimated);
    reasons.push({ kind: "estimated", text, dimension: null, amount: null, requests });
  }
  if (logged === null) return reasons;
  const { overnight, conditions } = logged;
  add(
    "overnight",
    overnight,
    `The vendor may count ${requestsText(overnight.count)} to the day before, on which they began`,
  );
  for (const [name, group] of conditions) {
    const priced = requestsText(group.count);
    add("condition", group, `The gateway priced ${priced} by "${name}", ${usd(group.cost)} in all`);
  }
  return reasons;
}

function idsOf(group: LoggedGroup | undefined): readonly string[] {
  return group?.samples.map(({ id }) => id) ?? [];
}

function requestsText(count: number): string {
  return counted(count, "request");
}

function usd(amount: Money): string {
  return `${writeMoney(amount)} USD`;
}
