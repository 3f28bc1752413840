import { DAY_MS } from "../../money/billing/usage/usage_records.ts";
import { readCsv } from "../../platform/lib/text/csv.ts";
import { GatewayError, invalidField } from "../../platform/lib/basics/gateway_error.ts";
import { isDate } from "../../platform/lib/text/iso_date.ts";
import { nextTurn } from "../../platform/lib/streams/loop_turns.ts";
import { readExactUsd } from "./exact_usd.ts";
import type { ReportRange, ReportSink } from "./vendor_report.ts";

/** The largest invoice. */
export const MAX_INVOICE_CHARACTERS = 2_000_000;
const MAX_LINES = 50_000;
const LINES_PER_TURN = 500;

/** The columns of an invoice, each with the names that it may have. */
const COLUMNS = {
  date: ["date", "day", "usage_date"],
  model: ["model", "model_name", "sku"],
  cost: ["cost", "amount", "cost_usd", "amount_usd", "usd"],
  item: ["item", "line_item", "dimension", "token_type"],
  quantity: ["quantity", "units"],
  requests: ["requests", "num_requests", "calls"],
  input: ["input_tokens", "prompt_tokens"],
  cacheRead: ["cache_read_tokens", "cached_tokens", "cached_input_tokens"],
  cacheWrite: ["cache_write_tokens"],
  output: ["output_tokens", "completion_tokens"],
} as const;

type Column = keyof typeof COLUMNS;

/** The name that is documented for each column. */
const REQUIRED: readonly Column[] = ["model", "cost"];

/**
 * Reads an invoice as CSV: `date,model,cost`, and what else is known. Without dates, it is of the whole range. A cost
 * without a model is a separate item.
 *
 * @throws {GatewayError} `invalid_request` that names the line and the column.
 */
export async function readInvoice(text: string, { fromDay, toDay }: ReportRange, sink: ReportSink): Promise<void> {
  if (text.length > MAX_INVOICE_CHARACTERS) {
    throw new GatewayError(
      "request_too_large",
      `Cannot read the invoice: more than ${MAX_INVOICE_CHARACTERS} characters`,
    );
  }
  let places: ReadonlyMap<Column, number> | null = null;
  let lines = 0;
  for (const { cells, number } of linesOf(text)) {
    if (lines % LINES_PER_TURN === 0) await nextTurn();
    if (++lines > MAX_LINES) throw invoiceError(`more than ${MAX_LINES} lines`);
    if (places === null) places = placesIn(cells);
    else addLine(new Line(cells, number, places), { fromDay, toDay }, sink);
  }
  if (lines < 2) throw invoiceError("expected a line of names and at least one line of values");
}

function* linesOf(text: string) {
  try {
    yield* readCsv(text);
  } catch (error) {
    if (error instanceof RangeError) throw invoiceError(error.message);
    throw error;
  }
}

function placesIn(head: readonly string[]): ReadonlyMap<Column, number> {
  const names = head.map((name) => name.trim().toLowerCase().replaceAll(/[ -]+/g, "_"));
  const places = new Map<Column, number>();
  for (const [column, known] of Object.entries(COLUMNS) as [Column, readonly string[]][]) {
    const place = names.findIndex((name) => known.includes(name));
    if (place >= 0) places.set(column, place);
  }
  for (const column of REQUIRED) {
    if (places.has(column)) continue;
    throw invoiceError(
      `expected a column ${COLUMNS[column].map((name) => `"${name}"`).join(" or ")} in the first line`,
    );
  }
  return places;
}

/** The values of a line by column. */
class Line {
  constructor(
    private readonly cells: readonly string[],
    readonly number: number,
    private readonly places: ReadonlyMap<Column, number>,
  ) {}

  has(column: Column): boolean {
    return this.places.has(column);
  }

  /** Null for an empty cell. */
  text(column: Column): string | null {
    const place = this.places.get(column);
    const text = place === undefined ? "" : this.cells[place]?.trim() ?? "";
    return text === "" ? null : text;
  }

  count(column: Column): number | null {
    const text = this.text(column);
    if (text === null) return null;
    const plain = text.replaceAll(",", "");
    if (!/^\d{1,15}(\.\d{1,3})?$/.test(plain)) throw this.error(column, "expected a number that is not negative");
    return Number(plain);
  }

  error(column: Column, what: string): GatewayError {
    return invoiceError(`line ${this.number}, column "${COLUMNS[column][0]}": ${what}`);
  }
}

function addLine(line: Line, range: ReportRange, sink: ReportSink): void {
  const day = dayOf(line);
  if (day !== null && (day < range.fromDay || day >= range.toDay)) return;
  const amount = readExactUsd((line.text("cost") ?? "").replace(/^\$/, ""));
  if (amount === null) throw line.error("cost", "expected US dollars such as 1.25");
  const [model, item] = [line.text("model"), line.text("item")];
  const dimension = model === null ? item ?? "other" : item;
  sink.addItem({ day, model, dimension, condition: null, amount, quantity: line.count("quantity") });
  if (model === null || !(["requests", "input", "output"] as const).some((column) => line.has(column))) return;
  sink.addUsage({
    day,
    model,
    requests: line.count("requests"),
    inputTokens: line.count("input"),
    cacheReadTokens: line.count("cacheRead"),
    cacheWriteTokens: line.count("cacheWrite"),
    outputTokens: line.count("output"),
  });
}

function dayOf(line: Line): number | null {
  if (!line.has("date")) return null;
  const date = (line.text("date") ?? "").slice(0, 10);
  if (!isDate(date)) throw line.error("date", "expected a UTC day such as 2026-11-21");
  return Date.parse(date) / DAY_MS;
}

function invoiceError(what: string): GatewayError {
  return invalidField("invoice", what);
}
