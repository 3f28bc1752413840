import { invalidField } from "../../../platform/lib/basics/gateway_error.ts";
import { nearestWord } from "../../../platform/lib/text/nearest_word.ts";

/** The parameters that {@linkcode readPage} reads. */
export const PAGE_PARAMETERS: readonly string[] = ["limit", "after"];

/**
 * Refuses a query with other parameters than the known ones: an ignored one could have been meant to select something.
 *
 * @throws {GatewayError} `invalid_request` that names the parameter, and the nearest known one.
 */
export function refuseUnknownParameters(query: string, known: readonly string[]): void {
  if (query === "") return;
  for (const name of new URLSearchParams(query).keys()) {
    if (known.includes(name)) continue;
    const nearest = nearestWord(name, known);
    const list = known.length === 0 ? "there are none here" : `the parameters here are ${known.join(", ")}`;
    const hint = nearest === null ? list : `did you mean "${nearest}"?`;
    throw invalidField(name.slice(0, 100), `no such parameter; ${hint}`);
  }
}

const MAX_PAGE_SIZE = 100;

/**
 * Reads `limit` (1 to 100, default 20) and `after` of a query.
 *
 * @throws {GatewayError} `invalid_request` for invalid values.
 */
export function readPage(query: string): { limit: number; after?: string } {
  const parameters = new URLSearchParams(query);
  const limit = parameters.get("limit") ?? "20";
  if (!/^[1-9]\d{0,2}$/.test(limit) || Number(limit) > MAX_PAGE_SIZE) {
    throw invalidField("limit", `expected a whole number from 1 to ${MAX_PAGE_SIZE}`);
  }
  const after = parameters.get("after");
  if (after === null) return { limit: Number(limit) };
  if (!/^[\x21-\x7e]{1,128}$/.test(after)) {
    throw invalidField("after", 'expected the "next" of an earlier page');
  }
  return { limit: Number(limit), after };
}
