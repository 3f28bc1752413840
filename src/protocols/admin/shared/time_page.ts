import { invalidField } from "../../../platform/lib/basics/gateway_error.ts";
import type { TimeIndexEntry } from "../../../platform/lib/basics/time_index_entry.ts";
import { PAGE_PARAMETERS, readPage } from "./query.ts";

/** A range of Unix milliseconds, start inclusive, end exclusive. */
export interface TimeRange {
  readonly from: number;
  readonly to: number;
}

/** Later than any time in whole seconds. */
const END_OF_TIME = Number.MAX_SAFE_INTEGER;

/**
 * Reads `from` and `to` of a query in whole Unix seconds; unlimited if missing.
 *
 * @throws {GatewayError} `invalid_request` that names the parameter.
 */
export function readRange(query: string): TimeRange {
  const parameters = new URLSearchParams(query);
  return { from: instantIn(parameters, "from") ?? 0, to: instantIn(parameters, "to") ?? END_OF_TIME };
}

/**
 * Reads an instant of a query in whole Unix seconds; null if it is missing.
 *
 * @throws {GatewayError} `invalid_request` that names the parameter.
 */
export function instantIn(parameters: URLSearchParams, name: string): number | null {
  const text = parameters.get(name);
  if (text === null) return null;
  if (!/^\d{1,12}$/.test(text)) throw invalidField(name, "expected whole Unix seconds");
  return Number(text) * 1_000;
}

/**
 * Reads `order` of a query: whether the newest comes first.
 *
 * @param defaultOrder The order where none is given.
 * @throws {GatewayError} `invalid_request` for another word than `asc` and `desc`.
 */
export function readsNewestFirst(query: string, defaultOrder: "asc" | "desc"): boolean {
  const order = new URLSearchParams(query).get("order") ?? defaultOrder;
  if (order !== "asc" && order !== "desc") throw invalidField("order", "expected asc or desc");
  return order === "desc";
}

/** A page of a list sorted by time. */
export interface TimePage {
  readonly limit: number;
  /** The entry to continue after; null for the first page. */
  readonly after: TimeIndexEntry | null;
  /** Newest first. */
  readonly reverse: boolean;
}

/** The parameters that {@linkcode readTimePage} and {@linkcode readRange} read. */
export const TIME_PAGE_PARAMETERS: readonly string[] = [...PAGE_PARAMETERS, "order", "from", "to"];

/**
 * Reads `limit`, `after` and `order` of a query; newest first by default.
 *
 * @throws {GatewayError} `invalid_request` that names the parameter.
 */
export function readTimePage(query: string): TimePage {
  const { limit, after } = readPage(query);
  const reverse = readsNewestFirst(query, "desc");
  return { limit, after: after === undefined ? null : parseCursor(after), reverse };
}

/** Serialises an entry as the `next` of a page. */
export function formatCursor({ createdAt, id }: TimeIndexEntry): string {
  return `${createdAt}.${id}`;
}

/**
 * Parses the result of {@linkcode formatCursor}.
 *
 * @throws {GatewayError} `invalid_request` that names `after`.
 */
export function parseCursor(text: string): TimeIndexEntry {
  const [, createdAt, id] = /^(\d{1,16})\.([0-9a-f-]{36})$/.exec(text) ?? [];
  if (createdAt === undefined || id === undefined) {
    throw invalidField("after", 'expected the "next" of an earlier page');
  }
  return { createdAt: Number(createdAt), id };
}
