import { isObject, listOf } from "../../conversation/neutral/wire_value.ts";
import type { JsonObject } from "../../platform/lib/json/json_object.ts";
import { nextTurn } from "../../platform/lib/streams/loop_turns.ts";
import { MAX_REPORT_PAGES, type ReadReport, unexpectedReport } from "./vendor_report.ts";

/** The buckets of a report that has them in pages, each with its results. */
export interface Bucket {
  readonly bucket: JsonObject;
  readonly results: readonly JsonObject[];
}

/** Results that are read without a pause for other work. */
const RESULTS_PER_TURN = 500;

/**
 * Reads a report page by page: `{data, has_more, next_page}`.
 *
 * @param onBucket Called with parts of the results of one bucket.
 * @throws {GatewayError} `upstream_error` for another shape, or more than {@linkcode MAX_REPORT_PAGES} pages.
 */
export async function readPages(
  read: ReadReport,
  path: string,
  query: URLSearchParams,
  onBucket: (bucket: Bucket) => void,
): Promise<void> {
  const asked = new URLSearchParams(query);
  for (let page = 0; page < MAX_REPORT_PAGES; page++) {
    const answer = await read(path, asked);
    if (!isObject(answer) || !Array.isArray(answer.data)) throw unexpectedReport(`${path} has no list "data"`);
    for (const bucket of answer.data) {
      const results = isObject(bucket) ? listOf(bucket.results).filter(isObject) : [];
      for (let at = 0; at < results.length; at += RESULTS_PER_TURN) {
        await nextTurn();
        if (isObject(bucket)) onBucket({ bucket, results: results.slice(at, at + RESULTS_PER_TURN) });
      }
    }
    if (answer.has_more !== true) return;
    if (typeof answer.next_page !== "string") throw unexpectedReport(`${path} has more, and names no "next_page"`);
    asked.set("page", answer.next_page);
  }
  throw unexpectedReport(`${path} has more than ${MAX_REPORT_PAGES} pages; shorten the range of days`);
}

/** A count of a report; null if it is not stated. */
export function countIn(result: JsonObject, name: string): number | null {
  const value = result[name];
  return typeof value === "number" && Number.isFinite(value) && value >= 0 ? value : null;
}

/** The sum of counts, of which those that are missing are zero. */
export function sumIn(result: JsonObject, ...names: readonly string[]): number {
  return names.reduce((sum, name) => sum + (countIn(result, name) ?? 0), 0);
}
