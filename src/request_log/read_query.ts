import { invalidField } from "../lib/gateway_error.ts";
import { type Money, readMoney } from "../lib/money.ts";
import { nearestWord } from "../lib/nearest_word.ts";
import type { RequestEnd } from "../http/request_record.ts";
import type { RequestQuery } from "./request_log.ts";

/** Parameters of a list of requests. */
export type RequestParameter =
  | "account"
  | "key"
  | "model"
  | "provider"
  | "status"
  | "code"
  | "endpoint"
  | "kind"
  | "end"
  | "dropped"
  | "client_address"
  | "min_duration_ms"
  | "min_cost"
  | "from"
  | "to"
  | "q"
  | "order"
  | "limit"
  | "after";

/** The parameters for the owner of an account. */
export const OWNER_PARAMETERS: readonly RequestParameter[] = [
  "key",
  "model",
  "provider",
  "status",
  "code",
  "endpoint",
  "kind",
  "end",
  "dropped",
  "client_address",
  "min_duration_ms",
  "min_cost",
  "from",
  "to",
  "q",
  "order",
  "limit",
  "after",
];

/** The parameters for operators. */
export const OPERATOR_PARAMETERS: readonly RequestParameter[] = ["account", ...OWNER_PARAMETERS];

const DEFAULT_LIMIT = 20;
const MAX_LIMIT = 100;
const MAX_TEXT_CHARACTERS = 200;
const MAX_DURATION_MS = 86_400_000;

/**
 * Reads the query of a list of requests.
 *
 * @param text Without its question mark.
 * @param known The parameters that may be given.
 * @throws {GatewayError} `invalid_request`, naming the parameter that is unknown, repeated or invalid.
 */
export function readRequestQuery(text: string, known: readonly RequestParameter[]): RequestQuery {
  const given = givenParameters(text, known);
  const { account, key, model, provider, code, endpoint, kind, dropped, client_address: remote, q } = given;
  const [status, from, to] = [statusIn(given), instantIn(given, "from"), instantIn(given, "to")];
  const [end, minCost] = [endIn(given), costIn(given)];
  const minDurationMs = wholeNumberIn(given, "min_duration_ms", MAX_DURATION_MS, "whole milliseconds of up to a day");
  const after = wholeNumberIn(given, "after", Number.MAX_SAFE_INTEGER, "the next of an earlier page");
  return {
    ...account !== undefined && { account },
    ...key !== undefined && { key },
    ...model !== undefined && { model },
    ...provider !== undefined && { provider },
    ...code !== undefined && { code },
    ...endpoint !== undefined && { endpoint },
    ...kind !== undefined && { kind },
    ...dropped !== undefined && { dropped },
    ...remote !== undefined && { remote },
    ...end !== null && { end },
    ...minDurationMs !== null && { minDurationMs },
    ...minCost !== null && { minCost },
    ...q !== undefined && { text: q },
    ...status !== null && { status },
    ...from !== null && { from },
    ...to !== null && { to },
    ...after !== null && { after },
    order: orderIn(given),
    limit: wholeNumberIn(given, "limit", MAX_LIMIT, `a whole number from 1 to ${MAX_LIMIT}`) ?? DEFAULT_LIMIT,
  };
}

type Given = Partial<Record<RequestParameter, string>>;

function givenParameters(text: string, known: readonly RequestParameter[]): Given {
  const given: Given = {};
  for (const [word, value] of new URLSearchParams(text)) {
    const name = known.find((each) => each === word);
    if (name === undefined) throw unknownParameter(word, known);
    if (given[name] !== undefined) throw invalidField(name, "expected it once");
    if (value === "" || value.length > MAX_TEXT_CHARACTERS) {
      throw invalidField(name, `expected text of 1 to ${MAX_TEXT_CHARACTERS} characters`);
    }
    given[name] = value;
  }
  return given;
}

function unknownParameter(word: string, known: readonly RequestParameter[]): Error {
  const nearest = nearestWord(word, known);
  const hint = nearest === null ? `expected ${known.join(", ")}` : `did you mean "${nearest}"?`;
  return invalidField(word.slice(0, 100), `no such parameter, ${hint}`);
}

const STATUS_EXPECTATION = 'expected a status such as 404, a class such as 5xx, or "error"';

function statusIn({ status }: Given): readonly [number, number] | null {
  if (status === undefined) return null;
  if (status === "error") return [400, 599];
  if (/^[1-5]xx$/.test(status)) return [Number(status[0]) * 100, Number(status[0]) * 100 + 99];
  if (!/^[1-5]\d\d$/.test(status)) throw invalidField("status", STATUS_EXPECTATION);
  return [Number(status), Number(status)];
}

const ENDS: readonly RequestEnd[] = ["completed", "cut", "left"];

function endIn({ end: given }: Given): RequestEnd | null {
  if (given === undefined) return null;
  const end = ENDS.find((each) => each === given);
  if (end === undefined) throw invalidField("end", `expected ${ENDS.join(", ")}`);
  return end;
}

function costIn({ min_cost: cost }: Given): Money | null {
  if (cost === undefined) return null;
  if (!/^\d{1,7}(\.\d{1,10})?$/.test(cost)) throw invalidField("min_cost", "expected US dollars such as 0.01");
  return readMoney(cost);
}

/** Unix milliseconds. */
function instantIn(given: Given, name: "from" | "to"): number | null {
  const text = given[name];
  if (text === undefined) return null;
  if (/^\d{1,11}$/.test(text)) return Number(text) * 1_000;
  const instant = /^\d{4}-\d\d-\d\d(T\d\d:\d\d(:\d\d(\.\d{1,3})?)?(Z|[+-]\d\d:\d\d))?$/.test(text)
    ? Date.parse(text)
    : NaN;
  if (Number.isNaN(instant)) {
    throw invalidField(name, "expected Unix seconds or a date such as 2026-01-31 or 2026-01-31T09:30Z");
  }
  return instant;
}

type NumberParameter = "limit" | "after" | "min_duration_ms";

function wholeNumberIn(given: Given, name: NumberParameter, max: number, expected: string): number | null {
  const text = given[name];
  if (text === undefined) return null;
  const value = /^\d{1,16}$/.test(text) ? Number(text) : 0;
  if (value < 1 || value > max) throw invalidField(name, `expected ${expected}`);
  return value;
}

function orderIn({ order = "desc" }: Given): "asc" | "desc" {
  if (order !== "asc" && order !== "desc") throw invalidField("order", "expected asc or desc");
  return order;
}
