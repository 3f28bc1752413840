import { GatewayError } from "../../platform/lib/basics/gateway_error.ts";
import { addCounts, type Counts, UNKNOWN_COUNTS } from "./counted.ts";
import type { ExactUsd } from "./exact_usd.ts";
import type { BilledItem, CountedUsage, ReportSink } from "./vendor_report.ts";

/** What a vendor billed for one price key under one condition. */
export interface BilledDimension {
  readonly dimension: string;
  readonly condition: string | null;
  amount: ExactUsd;
  /** Null if an item has none. */
  quantity: number | null;
}

/** What a vendor reports for one model on one day. */
export interface VendorRow {
  /** Null for the whole range. */
  readonly day: number | null;
  /** The vendor's name of the model, or of an item that is not of a model. */
  readonly name: string;
  readonly isModel: boolean;
  amount: ExactUsd;
  counts: Counts;
  /** Empty if the report does not split the cost. */
  readonly dimensions: Map<string, BilledDimension>;
  /** Counted quantities by price key. */
  readonly quantities: Map<string, number>;
}

const MAX_ROWS = 5_000;
const MAX_DIMENSIONS = 50_000;
/** Names of vendors are shown; longer ones are cut. */
const MAX_NAME_CHARACTERS = 200;
const SEPARATOR = "\0";

/** The sums of a vendor's report by day and model. */
export class VendorSums implements ReportSink {
  readonly #rows = new Map<string, VendorRow>();
  #dimensions = 0;

  /** @param nameOf Gives the name under which the gateway knows a model of the vendor. Default: the vendor's. */
  constructor(private readonly nameOf: (model: string) => string = (model) => model) {}

  /** In the order in which they were reported. */
  get rows(): readonly VendorRow[] {
    return [...this.#rows.values()];
  }

  /** @throws {GatewayError} `invalid_request` if the range has too many items, as {@linkcode VendorSums.addUsage}. */
  addItem({ day, model, dimension, condition, amount, quantity }: BilledItem): void {
    const row = model === null ? this.#rowOf(day, dimension ?? "other", false) : this.#rowOf(day, model, true);
    row.amount += amount;
    if (dimension === null) return;
    const key = `${dimension}${SEPARATOR}${condition ?? ""}`;
    const found = row.dimensions.get(key);
    if (found === undefined) {
      if (++this.#dimensions > MAX_DIMENSIONS) throw tooMuch(`more than ${MAX_DIMENSIONS} items`);
      row.dimensions.set(key, { dimension: cut(dimension), condition, amount, quantity });
      return;
    }
    found.amount += amount;
    found.quantity = found.quantity === null || quantity === null ? null : found.quantity + quantity;
  }

  addUsage(usage: CountedUsage): void {
    const row = this.#rowOf(usage.day, usage.model, true);
    row.counts = row.counts === UNKNOWN_COUNTS ? countsOf(usage) : addCounts(row.counts, usage);
    for (const [key, quantity] of Object.entries(usage.quantities ?? {})) {
      row.quantities.set(key, (row.quantities.get(key) ?? 0) + quantity);
    }
  }

  #rowOf(day: number | null, reported: string, isModel: boolean): VendorRow {
    const name = cut(isModel ? this.nameOf(reported) : reported);
    const key = `${day}${SEPARATOR}${isModel}${SEPARATOR}${name}`;
    const found = this.#rows.get(key);
    if (found !== undefined) return found;
    if (this.#rows.size >= MAX_ROWS) throw tooMuch(`more than ${MAX_ROWS} rows`);
    const row: VendorRow = {
      day,
      name,
      isModel,
      amount: 0n,
      counts: UNKNOWN_COUNTS,
      dimensions: new Map(),
      quantities: new Map(),
    };
    this.#rows.set(key, row);
    return row;
  }
}

function countsOf({ requests, inputTokens, cacheReadTokens, cacheWriteTokens, outputTokens }: CountedUsage): Counts {
  return { requests, inputTokens, cacheReadTokens, cacheWriteTokens, outputTokens };
}

function tooMuch(what: string): GatewayError {
  return new GatewayError("invalid_request", `Cannot reconcile: the vendor's bill has ${what}; shorten the range`, {
    field: "from",
  });
}

function cut(text: string): string {
  return text.length <= MAX_NAME_CHARACTERS ? text : `${text.slice(0, MAX_NAME_CHARACTERS).toWellFormed()}…`;
}
