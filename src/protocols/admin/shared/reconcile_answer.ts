import { DAY_MS } from "../../../money/billing/usage/usage_records.ts";
import { CSV_TYPE, csvLines, csvText } from "../../../platform/lib/text/csv.ts";
import { nextTurn } from "../../../platform/lib/streams/loop_turns.ts";
import type { JsonObject } from "../../../platform/lib/json/json_object.ts";
import { writeMoney, writeRate } from "../../../platform/lib/basics/money.ts";
import type { Compared, ComparedDay, ComparedRow, Sums } from "../../../vendors/reconciliation/compare.ts";
import type { Counts } from "../../../vendors/reconciliation/counted.ts";
import type { Explanation } from "../../../vendors/reconciliation/explain.ts";
import type { DimensionSide, ExplainedDimension } from "../../../vendors/reconciliation/explained_dimensions.ts";
import type { Reason } from "../../../vendors/reconciliation/reason.ts";
import type { Reconciliation } from "../../../vendors/reconciliation/reconcile.ts";

const ROWS_PER_TURN = 500;
const HEADERS = { "cache-control": "no-store" };

/** The fields of counts, by their names in code. */
const FIELDS = {
  requests: "requests",
  inputTokens: "input_tokens",
  cacheReadTokens: "cache_read_tokens",
  cacheWriteTokens: "cache_write_tokens",
  outputTokens: "output_tokens",
} as const satisfies Record<keyof Counts, string>;

const COUNT_NAMES = Object.keys(FIELDS) as (keyof Counts)[];

/** The answer of a reconciliation: JSON, or its rows as CSV. */
export async function reconciliationAnswer(found: Reconciliation, format: "json" | "csv"): Promise<Response> {
  return format === "csv" ? await csvAnswer(found) : await jsonAnswer(found);
}

/** The rows are written in parts, with pauses for other work. */
async function jsonAnswer(found: Reconciliation): Promise<Response> {
  const { provider, source, days, total, rows, explanations } = found;
  const head = {
    provider,
    source,
    total: writeCompared(total),
    days: days.map(writeDay),
    explanations: explanations.map(writeExplanation),
  };
  const written = await inTurns(rows, (row) => JSON.stringify(writeRow(row)));
  const body = `${JSON.stringify(head).slice(0, -1)},"data":[${written.join()}]}`;
  return new Response(body, { headers: { ...HEADERS, "content-type": "application/json" } });
}

async function inTurns<T>(rows: readonly ComparedRow[], write: (row: ComparedRow) => T): Promise<T[]> {
  const written: T[] = [];
  for (const [place, row] of rows.entries()) {
    if (place % ROWS_PER_TURN === 0) await nextTurn();
    written.push(write(row));
  }
  return written;
}

function writeDay({ day, state, sums }: ComparedDay): JsonObject {
  return { day: dateOf(day), state, ...sums === null ? UNKNOWN : writeCompared(sums) };
}

const UNKNOWN = { theirs: null, ours: null, difference: null };

function writeRow(row: ComparedRow): JsonObject {
  return { day: dateOf(row.day), model: row.name, gateway_models: modelsOf(row), ...writeCompared(row) };
}

function modelsOf({ own }: ComparedRow): string[] {
  return [...new Set(own.flatMap(({ models }) => [...models]))];
}

function writeCompared({ theirs, ours, difference }: Compared): JsonObject {
  return { theirs: writeSums(theirs), ours: writeSums(ours), difference: writeSums(difference) };
}

function writeSums({ cost, counts }: Sums): JsonObject {
  return { cost: writeMoney(cost), ...Object.fromEntries(COUNT_NAMES.map((name) => [FIELDS[name], counts[name]])) };
}

function writeExplanation({ row, source, dimensions, reasons }: Explanation): JsonObject {
  return {
    day: dateOf(row.day),
    model: row.name,
    difference: writeMoney(row.difference.cost),
    ours_from: source,
    dimensions: dimensions.map(writeDimension),
    reasons: reasons.map(writeReason),
  };
}

function writeDimension({ dimension, conditions, theirs, ours }: ExplainedDimension): JsonObject {
  return { dimension, conditions, theirs: writeSide(theirs), ours: writeSide(ours) };
}

function writeSide({ cost, quantity, price }: DimensionSide): JsonObject {
  return { cost: writeMoney(cost), quantity, price: price === null || price < 0n ? null : writeRate(price) };
}

function writeReason({ kind, text, dimension, amount, requests }: Reason): JsonObject {
  return { kind, text, dimension, amount: amount === null ? null : writeMoney(amount), requests };
}

function dateOf(day: number | null): string | null {
  return day === null ? null : new Date(day * DAY_MS).toISOString().slice(0, 10);
}

async function csvAnswer({ rows, explanations }: Reconciliation): Promise<Response> {
  const reasons = new Map(explanations.map(({ row, reasons }) => [row, reasons.map(({ text }) => text).join("; ")]));
  const columns = ["cost", ...Object.values(FIELDS)];
  const head = [
    "day",
    "model",
    ...["their", "our", "difference"].flatMap((side) => columns.map((c) => `${side}_${c}`)),
  ];
  const lines = await inTurns(rows, (row) => [
    dateOf(row.day) ?? "",
    csvText(row.name),
    ...[row.theirs, row.ours, row.difference].flatMap((sums) => cellsOf(sums)),
    csvText(reasons.get(row) ?? ""),
  ]);
  return new Response(csvLines([[...head, "reasons"], ...lines]), {
    headers: { ...HEADERS, "content-type": CSV_TYPE },
  });
}

function cellsOf({ cost, counts }: Sums): string[] {
  return [writeMoney(cost), ...COUNT_NAMES.map((name) => counts[name] === null ? "" : String(counts[name]))];
}
