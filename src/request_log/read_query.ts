import { invalidField } from "../lib/gateway_error.ts";
import { nearestWord } from "../lib/nearest_word.ts";
import type { RequestQuery } from "./request_log.ts";

/** Parameters of a list of requests. */
export type RequestParameter =
  | "account"
  | "key"
  | "model"
  | "provider"
  | "status"
  | "code"
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

/**
 * Reads the query of a list of requests.
 *
 * @param text Without its question mark.
 * @param known The parameters that may be given.
 * @throws {GatewayError} `invalid_request`, naming the parameter that is unknown, repeated or invalid.
 */
export function readRequestQuery(text: string, known: readonly RequestParameter[]): RequestQuery {
  const given = givenParameters(text, known);
  const { account, key, model, provider, code, q } = given;
  const [status, from, to] = [statusIn(given), instantIn(given, "from"), instantIn(given, "to")];
  const after = wholeNumberIn(given, "after", Number.MAX_SAFE_INTEGER, "the next of an earlier page");
  return {
    ...account !== undefined && { account },
    ...key !== undefined && { key },
    ...model !== undefined && { model },
    ...provider !== undefined && { provider },
    ...code !== undefined && { code },
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

function wholeNumberIn(given: Given, name: "limit" | "after", max: number, expected: string): number | null {
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
