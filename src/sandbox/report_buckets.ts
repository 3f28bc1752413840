import type { JsonObject } from "../platform/lib/json/json_object.ts";
import { SimulatedError } from "./simulated_error.ts";

/** The days of one answer of a report. */
export interface ReportDays {
  readonly days: readonly number[];
  /** The token of the next answer; null at the end. */
  readonly next: string | null;
}

/** How a vendor's report selects days. */
export interface DaySelection {
  /** Days since 1970, UTC. */
  readonly from: number;
  /** The day after the last one. */
  readonly to: number;
  readonly limit: number;
  /** The token of an earlier answer; null for the first one. */
  readonly page: string | null;
}

const DEFAULT_DAYS = 7;

/**
 * The days of one answer.
 *
 * @throws {SimulatedError} 400 for a range without days, or an unknown token.
 */
export function reportDays({ from, to, limit, page }: DaySelection): ReportDays {
  if (!(to > from)) throw new SimulatedError(400, "The end of the time range must be after its start.");
  const start = page === null ? from : Number(/^page_(\d+)$/.exec(page)?.[1] ?? NaN);
  if (!(start >= from)) throw new SimulatedError(400, "Invalid value for 'page'.");
  const end = Math.min(to, start + limit);
  return {
    days: Array.from({ length: Math.max(0, end - start) }, (_, place) => start + place),
    next: end < to ? `page_${end}` : null,
  };
}

/**
 * Reads `limit`.
 *
 * @throws {SimulatedError} 400 for a number that is out of range.
 */
export function reportLimit(query: URLSearchParams, max: number): number {
  const limit = Number(query.get("limit") ?? DEFAULT_DAYS);
  if (Number.isInteger(limit) && limit >= 1 && limit <= max) return limit;
  throw new SimulatedError(400, `Invalid value for 'limit': expected a value from 1 to ${max}.`);
}

/** An answer with its page. */
export function reportPage({ next }: ReportDays, data: readonly JsonObject[]): JsonObject {
  return { data, has_more: next !== null, next_page: next };
}

/** An amount in units of 10^-18 as a decimal, `shift` digits larger. */
export function decimalText(amount: bigint, shift = 0): string {
  const places = 18 - shift;
  const digits = amount.toString().padStart(places + 1, "0");
  const fraction = digits.slice(-places).replace(/0+$/, "");
  return fraction === "" ? digits.slice(0, -places) : `${digits.slice(0, -places)}.${fraction}`;
}
