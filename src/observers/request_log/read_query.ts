import { PROTOCOLS } from "../../platform/endpoints/protocols.ts";
import { invalidField } from "../../platform/lib/basics/gateway_error.ts";
import { type Money, readMoney } from "../../platform/lib/basics/money.ts";
import { nearestWord } from "../../platform/lib/text/nearest_word.ts";
import type { RequestEnd } from "../../platform/http/request/request_record.ts";
import { type FactRange, RANGED_FACTS, type RangedFact, type RequestQuery } from "./request_log.ts";

/** Parameters of the owner of an account that are no ends of ranges. */
const PLAIN_PARAMETERS = [
  "key",
  "model",
  "provider",
  "status",
  "code",
  "protocol",
  "endpoint",
  "method",
  "kind",
  "end",
  "refusal_limit",
  "refusal_holder",
  "attempt_code",
  "attempt_status",
  "dropped",
  "client_address",
  "session",
  "is_estimated",
  "is_from_console",
  "from",
  "to",
  "q",
  "order",
  "limit",
  "after",
] as const;

/** The ends of the range of a fact. */
type RangeParameter = `${"min" | "max"}_${RangedFact}`;

/** Parameters of a list of requests. */
export type RequestParameter = "account" | typeof PLAIN_PARAMETERS[number] | RangeParameter;

const RANGE_PARAMETERS = RANGED_FACTS.flatMap((fact): RangeParameter[] => [`min_${fact}`, `max_${fact}`]);

/** The parameters for the owner of an account. */
export const OWNER_PARAMETERS: readonly RequestParameter[] = [...PLAIN_PARAMETERS, ...RANGE_PARAMETERS];

/** The parameters for operators. */
export const OPERATOR_PARAMETERS: readonly RequestParameter[] = ["account", ...OWNER_PARAMETERS];

const DEFAULT_LIMIT = 20;
const MAX_LIMIT = 100;
const MAX_TEXT_CHARACTERS = 200;
/** Of a fact: more than any has. */
const MAX_NUMBER = 1_000_000_000_000;

/**
 * Reads the query of a list of requests.
 *
 * @param text Without its question mark.
 * @param known The parameters that may be given.
 * @throws {GatewayError} `invalid_request`, naming the parameter that is unknown, repeated or invalid.
 */
export function readRequestQuery(text: string, known: readonly RequestParameter[]): RequestQuery {
  const given = givenParameters(text, known);
  const { account, key, model, provider, code, endpoint, kind, method, dropped, client_address: remote, q, session } =
    given;
  const [status, from, to] = [statusIn(given, "status"), instantIn(given, "from"), instantIn(given, "to")];
  const end = choiceIn(given, "end", ENDS);
  const protocol = choiceIn(given, "protocol", Object.keys(PROTOCOLS));
  const isEstimated = choiceIn(given, "is_estimated", ["true", "false"]);
  const isFromConsole = choiceIn(given, "is_from_console", ["true", "false"]);
  const [refusal, attempt, ranges] = [refusalIn(given), attemptIn(given), rangesIn(given)];
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
    ...session !== undefined && { session },
    ...end !== null && { end },
    ...method !== undefined && { method: method.toUpperCase() },
    ...protocol !== null && { protocol },
    ...isEstimated !== null && { isEstimated: isEstimated === "true" },
    ...isFromConsole !== null && { isFromConsole: isFromConsole === "true" },
    ...refusal !== null && { refusal },
    ...attempt !== null && { attempt },
    ...ranges.length > 0 && { ranges },
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
    given[name] = value.replaceAll("\0", "\ufffd"); // as rows have it; PostgreSQL takes no text with a zero
  }
  return given;
}

function unknownParameter(word: string, known: readonly RequestParameter[]): Error {
  const nearest = nearestWord(word, known);
  const hint = nearest === null ? `expected ${known.join(", ")}` : `did you mean "${nearest}"?`;
  return invalidField(word.slice(0, 100), `no such parameter, ${hint}`);
}

const STATUS_EXPECTATION = 'expected a status such as 404, a class such as 5xx, or "error"';

function statusIn(given: Given, name: "status" | "attempt_status"): readonly [number, number] | null {
  const status = given[name];
  if (status === undefined) return null;
  if (status === "error") return [400, 599];
  if (/^[1-5]xx$/.test(status)) return [Number(status[0]) * 100, Number(status[0]) * 100 + 99];
  if (!/^[1-5]\d\d$/.test(status)) throw invalidField(name, STATUS_EXPECTATION);
  return [Number(status), Number(status)];
}

const ENDS: readonly RequestEnd[] = ["completed", "cut", "left"];
const HOLDERS = ["key", "account"] as const;
const LIMITS = ["rpm", "tpm", "concurrency", "budget"] as const;

function choiceIn<T extends string>(given: Given, name: RequestParameter, values: readonly T[]): T | null {
  const text = given[name];
  if (text === undefined) return null;
  const value = values.find((each) => each === text);
  if (value === undefined) throw invalidField(name, `expected ${values.join(", ")}`);
  return value;
}

function refusalIn(given: Given): NonNullable<RequestQuery["refusal"]> | null {
  const [holder, limit] = [choiceIn(given, "refusal_holder", HOLDERS), choiceIn(given, "refusal_limit", LIMITS)];
  return holder === null && limit === null
    ? null
    : { ...holder !== null && { holder }, ...limit !== null && { limit } };
}

function attemptIn(given: Given): NonNullable<RequestQuery["attempt"]> | null {
  const [code, status] = [given.attempt_code, statusIn(given, "attempt_status")];
  if (code === undefined && status === null) return null;
  return { ...code !== undefined && { code }, ...status !== null && { status } };
}

function rangesIn(given: Given): FactRange[] {
  return RANGED_FACTS.flatMap((fact): FactRange[] => {
    const [min, max] = [boundIn(given, "min", fact), boundIn(given, "max", fact)];
    return min === null && max === null ? [] : [{ fact, min, max }];
  });
}

function boundIn(given: Given, end: "min" | "max", fact: RangedFact): number | Money | null {
  const name = `${end}_${fact}` as const;
  const text = given[name];
  if (text === undefined) return null;
  if (fact === "cost") {
    if (!/^\d{1,7}(\.\d{1,10})?$/.test(text)) throw invalidField(name, "expected US dollars such as 0.01");
    return readMoney(text);
  }
  const value = /^\d{1,13}$/.test(text) ? Number(text) : Infinity;
  if (value > MAX_NUMBER) throw invalidField(name, `expected a whole number from 0 to ${MAX_NUMBER}`);
  return value;
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

type NumberParameter = "limit" | "after";

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
