import { assertEquals } from "@std/assert";
import type { DatedCatalog } from "../../src/vendors/catalog/catalog.ts";
import type { ComparedRow } from "../../src/vendors/reconciliation/compare.ts";
import { NO_COUNTS } from "../../src/vendors/reconciliation/counted.ts";
import { explain } from "../../src/vendors/reconciliation/explain.ts";
import type { LoggedCharges, LoggedGroup } from "../../src/vendors/reconciliation/logged_charges.ts";
import type { BilledDimension } from "../../src/vendors/reconciliation/vendor_sums.ts";

/** One dollar in the units of charges and in those of exact bills. */
const [DOLLAR, EXACT] = [10_000_000_000n, 10n ** 18n];
/** Not asked: the log of requests has all charges. */
const NO_CATALOG: DatedCatalog = { at: () => ({ models: [] }) } as unknown as DatedCatalog;

const group = (...ids: readonly string[]): LoggedGroup => ({
  count: ids.length,
  cost: DOLLAR * BigInt(ids.length),
  samples: ids.map((id) => ({ id, cost: DOLLAR })),
});

interface Bill {
  /** The vendor's items: price key, condition, dollars, units. */
  readonly items: readonly (readonly [key: string, condition: string | null, dollars: bigint, units: number])[];
  /** Our charges: price key, dollars, units. */
  readonly charges: readonly (readonly [key: string, dollars: bigint, units: number])[];
  readonly logged?: Partial<LoggedCharges>;
}

/** The reasons of a row in which both sides have the same number of requests. */
function reasonsOf({ items, charges, logged = {} }: Bill, requests = 2) {
  const counts = { ...NO_COUNTS, requests };
  const dimensions = new Map(items.map(([dimension, condition, dollars, quantity]): [string, BilledDimension] => [
    `${dimension} ${condition}`,
    { dimension, condition, amount: dollars * EXACT, quantity },
  ]));
  const sum = (amounts: readonly bigint[]) => amounts.reduce((all, each) => all + each, 0n);
  const [theirs, ours] = [sum(items.map(([, , dollars]) => dollars)), sum(charges.map(([, dollars]) => dollars))];
  const quantities = new Map(items.map(([key, , , units]) => [key, units]));
  const row: ComparedRow = {
    day: 1,
    name: "m",
    theirs: { cost: theirs * DOLLAR, counts },
    ours: { cost: ours * DOLLAR, counts },
    difference: { cost: (theirs - ours) * DOLLAR, counts: NO_COUNTS },
    vendor: { day: 1, name: "m", isModel: true, amount: theirs * EXACT, counts, dimensions, quantities },
    own: [{ day: 1, name: "m", models: new Set(["v/m"]), cost: ours * DOLLAR, counts, estimated: 0 }],
  };
  const charged = charges.map(([key, dollars, quantity]) =>
    [key, { quantity, exact: dollars * EXACT * 1_000n }] as const
  );
  const all: LoggedCharges = {
    isComplete: true,
    all: group("req_1", "req_2"),
    dimensions: new Map(charged),
    estimated: group(),
    overnight: group(),
    conditions: new Map(),
    ...logged,
  };
  return explain([{ row, logged: all }], NO_CATALOG)[0]!.reasons;
}

Deno.test("a tier that the vendor bills is named with the requests, and so is one that the gateway priced by", () => {
  const reasons = reasonsOf({
    items: [["prompt", "priority", 4n, 1_000]],
    charges: [["prompt", 2n, 1_000]],
    logged: { conditions: new Map([["tier flex", group("req_2")]]) },
  });
  assertEquals(reasons.map(({ kind, dimension, requests }) => [kind, dimension, requests]), [
    ["condition", "prompt", ["req_1", "req_2"]],
    ["condition", null, ["req_2"]],
  ]);
  assertEquals(
    reasons[0]?.text,
    'prompt: the vendor bills 0.004 for a unit, the gateway charges 0.002; the vendor names "priority"',
  );
  assertEquals(reasons[1]?.text, 'The gateway priced 1 request by "tier flex", 1.0000000000 USD in all');
});

Deno.test("a dimension without a price is named with what the vendor bills for it", () => {
  const [reason, ...others] = reasonsOf({
    items: [["prompt", null, 2n, 1_000], ["audio", null, 3n, 10]],
    charges: [["prompt", 2n, 1_000]],
  });
  assertEquals([reason?.kind, reason?.dimension, reason?.amount, others.length], ["unpriced", "audio", 3n * DOLLAR, 0]);
});

Deno.test("requests that began on the day before are named", () => {
  const reasons = reasonsOf({
    items: [["prompt", null, 2n, 1_000]],
    charges: [["prompt", 3n, 1_500]],
    logged: { overnight: group("req_9") },
  });
  assertEquals(reasons.map(({ kind, requests }) => [kind, requests]), [["tokens", []], ["overnight", ["req_9"]]]);
});

Deno.test("a difference of one unit for each request is the rounding, and nothing else", () => {
  const reasons = reasonsOf({ items: [["prompt", null, 1n, 1_000]], charges: [["prompt", 2n, 1_000]] }, Number(DOLLAR));
  assertEquals(reasons.map(({ kind }) => kind), ["rounding"]);
});
