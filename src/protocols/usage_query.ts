import type { UsageDimension, UsageValue } from "../money/billing/usage/usage_group.ts";
import { MAX_USAGE_GROUPS, type UsageQuery } from "../money/billing/usage/usage_report.ts";
import { invalidField } from "../platform/lib/basics/gateway_error.ts";
import { nearestWord } from "../platform/lib/text/nearest_word.ts";
import { DAY_MS } from "../money/billing/usage/usage_records.ts";

/** What a caller of a usage endpoint may ask for. */
export interface UsageAccess {
  /** What usage can be grouped by. */
  readonly dimensions: readonly UsageDimension[];
  /** Parameters beside those of every usage endpoint that are filters of the same name. */
  readonly filters: readonly Exclude<UsageDimension, "day">[];
  /** Further parameters, which the endpoint reads itself. */
  readonly others: readonly string[];
}

/** Which groups of a report an answer has. */
export interface UsagePage {
  readonly limit: number;
  /** The values of the group to start after; null for the first. */
  readonly after: readonly UsageValue[] | null;
}

/** A request for usage. */
export interface UsageRequest {
  readonly query: UsageQuery;
  readonly format: "json" | "csv";
  readonly page: UsagePage;
}

const DEFAULT_LIMIT = 100;
const MAX_LIMIT = 1_000;
const MAX_TOP = 1_000;
/** Later than the days of all timestamps. */
const END_OF_DAYS = Number.MAX_SAFE_INTEGER;
const DATE = /^\d{4}-\d{2}-\d{2}$/;
const SECONDS = /^\d{1,12}$/;

/**
 * Reads the parameters of a usage endpoint. Source: docs/api/money.md#usage.
 *
 * @throws {GatewayError} `invalid_request` that names the parameter, and for an unknown one the nearest known.
 */
export function readUsageRequest(text: string, { dimensions, filters, others }: UsageAccess): UsageRequest {
  const parameters = new URLSearchParams(text);
  checkNames(parameters, ["group_by", "from", "to", "format", "limit", "after", "top", ...filters, ...others]);
  const groupBy = groupByIn(parameters, dimensions);
  const fromDay = dayIn(parameters, "from") ?? 0;
  const toDay = dayIn(parameters, "to") ?? END_OF_DAYS;
  if (toDay <= fromDay) throw invalidField("to", "expected a day after from");
  const only = Object.fromEntries(filters.flatMap((name) => {
    const value = parameters.get(name);
    return value === null ? [] : [[name, value]];
  }));
  const format = parameters.get("format") ?? "json";
  if (format !== "json" && format !== "csv") throw invalidField("format", "expected json or csv");
  const page = format === "csv" ? wholeList(parameters) : pageIn(parameters, groupBy);
  const top = wholeNumberIn(parameters, "top", MAX_TOP);
  return { query: { groupBy, only, fromDay, toDay, ...top !== null && { top } }, format, page };
}

/**
 * Refuses parameters that are unknown or given twice.
 *
 * @throws {GatewayError} `invalid_request` that names it.
 */
function checkNames(parameters: URLSearchParams, known: readonly string[]): void {
  const seen = new Set<string>();
  for (const name of parameters.keys()) {
    const shown = name.slice(0, 100);
    if (!known.includes(name)) {
      const nearest = nearestWord(name, known);
      const hint = nearest === null ? `the parameters here are ${known.join(", ")}` : `did you mean "${nearest}"?`;
      throw invalidField(shown, `no such parameter; ${hint}`);
    }
    if (seen.has(name)) throw invalidField(shown, "expected it once");
    seen.add(name);
  }
}

function groupByIn(parameters: URLSearchParams, dimensions: readonly UsageDimension[]): UsageDimension[] {
  const text = parameters.get("group_by") ?? "";
  const names = text === "" ? [] : text.split(",").map((name) => name.trim());
  return names.map((name, place) => {
    const found = dimensions.find((dimension) => dimension === name);
    if (found === undefined) {
      const nearest = nearestWord(name, dimensions);
      const hint = nearest === null ? "" : `; did you mean "${nearest}"?`;
      throw invalidField("group_by", `expected a list of ${dimensions.join(", ")}, separated by commas${hint}`);
    }
    if (names.indexOf(name) !== place) throw invalidField("group_by", `expected "${found}" once`);
    return found;
  });
}

function dayIn(parameters: URLSearchParams, name: string): number | null {
  const text = parameters.get(name);
  return text === null ? null : readDay(name, text);
}

/**
 * Reads a day as days since 1970: a date, or the Unix seconds at which a UTC day starts.
 *
 * @throws {GatewayError} `invalid_request` that names the parameter.
 */
export function readDay(name: string, text: string): number {
  const ms = DATE.test(text) ? Date.parse(`${text}T00:00:00Z`) : SECONDS.test(text) ? Number(text) * 1_000 : NaN;
  const isDate = !DATE.test(text) || (!Number.isNaN(ms) && new Date(ms).toISOString().startsWith(text));
  if (!isDate || !(ms >= 0) || ms % DAY_MS !== 0) {
    throw invalidField(name, "expected a UTC day, such as 2026-11-21, or the Unix seconds at which one starts");
  }
  return ms / DAY_MS;
}

function wholeList(parameters: URLSearchParams): UsagePage {
  for (const name of ["limit", "after", "top"]) {
    if (parameters.has(name)) throw invalidField(name, "no such parameter with format=csv, which has all rows");
  }
  return { limit: MAX_USAGE_GROUPS, after: null };
}

function pageIn(parameters: URLSearchParams, groupBy: readonly UsageDimension[]): UsagePage {
  const limit = wholeNumberIn(parameters, "limit", MAX_LIMIT) ?? DEFAULT_LIMIT;
  const after = parameters.get("after");
  return { limit, after: after === null ? null : readCursor(after, groupBy) };
}

function wholeNumberIn(parameters: URLSearchParams, name: string, max: number): number | null {
  const text = parameters.get(name);
  if (text === null) return null;
  if (!/^[1-9]\d{0,3}$/.test(text) || Number(text) > max) {
    throw invalidField(name, `expected a whole number from 1 to ${max}`);
  }
  return Number(text);
}

/** The values of a group as the `after` of the next page. */
export function writeCursor(values: readonly unknown[]): string {
  return new TextEncoder().encode(JSON.stringify(values)).toBase64({ alphabet: "base64url", omitPadding: true });
}

function readCursor(text: string, groupBy: readonly UsageDimension[]): UsagePage["after"] {
  try {
    const bytes = Uint8Array.fromBase64(text.slice(0, 4_096), { alphabet: "base64url" });
    const values: unknown = JSON.parse(new TextDecoder().decode(bytes));
    if (Array.isArray(values) && values.length === groupBy.length && values.every(isValue)) return values;
  } catch { /* reported below */ }
  throw invalidField("after", 'expected the "next" of an earlier page with the same group_by');
}

function isValue(value: unknown): value is string | number | null {
  return value === null || typeof value === "string" || typeof value === "number";
}
