import { PROTOCOLS } from "../../platform/endpoints/protocols.ts";
import { CONSOLE_API } from "../../platform/endpoints/service.ts";
import { appendAll } from "../../platform/lib/collections/append_all.ts";
import type { FactRange, RangedFact, RequestQuery } from "./request_log.ts";
import { ATTEMPT_PLACES, FACT_PLACES, TOKEN_PLACES } from "./row.ts";

/** What the paths of requests of the console's playground begin with. */
const CONSOLE_START = `${CONSOLE_API}/`;

/** A condition of a query in SQL with `?`, and the values of its parameters. */
export interface Condition {
  readonly sql: string;
  readonly values: readonly (string | number)[];
}

/** The words of SQL in which the databases of a log differ. */
export interface Dialect {
  /** The function that returns the place of a text in another one, above 0 if it is there. */
  readonly placeOf: "instr" | "strpos";
  /** The operator that ignores the case of letters. */
  readonly like: "LIKE" | "ILIKE";
  /** The column of facts as a value whose members the operators `->` and `->>` read. */
  readonly facts: "facts" | "facts::json";
  /** The column of attempts as such a value. */
  readonly attempts: "attempts" | "attempts::json";
  /** The function that returns the members of an array as rows with a `value`. */
  readonly membersOf: "json_each" | "json_array_elements";
}

/** A condition with the values of its parameters. */
export function condition(sql: string, ...values: readonly (string | number)[]): Condition {
  return { sql, values };
}

/** Conditions of facts. Where a fact is a text, rows without that text are passed over before their JSON is read. */
export function factConditions(query: RequestQuery, dialect: Dialect): Condition[] {
  const { placeOf, facts } = dialect;
  const { endpoint, kind, end, dropped, remote, method, protocol, refusal = {}, ranges = [], session } = query;
  const { isEstimated, isFromConsole } = query;
  const fact = (name: keyof typeof FACT_PLACES) => `(${facts} ->> ${FACT_PLACES[name]})`;
  const conditions: Condition[] = [];
  const add = (text: string, sql: string, ...values: readonly string[]) =>
    conditions.push(condition(`(${placeOf}(facts, ?) > 0 AND ${sql})`, JSON.stringify(text), ...values));
  if (method !== undefined) add(method, `${fact("method")} = ?`, method);
  if (kind !== undefined) add(kind, `${fact("kind")} = ?`, kind);
  if (end !== undefined) add(end, `${fact("end")} = ?`, end);
  if (session !== undefined) add(session, `${fact("session")} = ?`, session);
  if (remote !== undefined) add(remote, `${fact("remote")} = ?`, remote);
  if (endpoint !== undefined) {
    // An endpoint that equals the path is a zero. Requests without a route have none.
    const isPath = `(COALESCE(CAST(${fact("endpoint")} AS TEXT), '0') = '0' AND ${fact("path")} = ?)`;
    add(endpoint, `(${fact("endpoint")} = ? OR ${isPath})`, endpoint, endpoint);
  }
  if (dropped !== undefined) add(dropped, `${placeOf}(${fact("dropped")}, ?) > 0`, JSON.stringify(dropped));
  for (const [name, value] of Object.entries(refusal)) {
    add(value, `${facts} -> ${FACT_PLACES.refusal} ->> '${name}' = ?`, value);
  }
  if (protocol !== undefined) conditions.push(protocolCondition(protocol, fact("path")));
  if (isFromConsole !== undefined) {
    const start = `substr(${fact("path")}, 1, ${CONSOLE_START.length})`;
    conditions.push(condition(`(${start} ${isFromConsole ? "=" : "<>"} ?)`, CONSOLE_START));
  }
  if (isEstimated !== undefined) {
    const hasTokens = `${tokenCount(facts, "input")} IS NOT NULL`;
    conditions.push(condition(`(${hasTokens} AND CAST(${fact("isEstimated")} AS NUMERIC) = ?)`, isEstimated ? 1 : 0));
  }
  return [...conditions, ...ranges.flatMap((range) => rangeConditions(range, dialect)), ...attempted(query, dialect)];
}

/** The path of a protocol begins with its segment. */
function protocolCondition(protocol: string, path: string): Condition {
  const starts = Object.values(PROTOCOLS).flatMap(({ name, root }) => name === protocol ? [`${root}/`] : []);
  const sql = starts.map((start) => `substr(${path} || '/', 1, ${start.length}) = ?`).join(" OR ");
  return condition(`(${sql === "" ? "FALSE" : sql})`, ...starts);
}

function rangeConditions({ fact, min, max }: FactRange, dialect: Dialect): Condition[] {
  const number = numberOf(fact, dialect);
  const conditions: Condition[] = [];
  if (min !== null) conditions.push(condition(`${number} >= ?`, Number(min)));
  if (max !== null) conditions.push(condition(`${number} <= ?`, Number(max)));
  return conditions;
}

function numberOf(fact: RangedFact, { facts, attempts }: Dialect): string {
  const plain = (name: keyof typeof FACT_PLACES) => `CAST(${facts} ->> ${FACT_PLACES[name]} AS NUMERIC)`;
  switch (fact) {
    case "duration_ms":
      return `ended_at - ${plain("receivedAt")}`;
    case "first_byte_ms":
      return plain("firstByteMs");
    case "cost":
      return plain("cost");
    case "images":
      return plain("images");
    case "request_bytes":
      return plain("requestBytes");
    case "response_bytes":
      return plain("responseBytes");
    case "input_tokens":
      return `CAST(${tokenCount(facts, "input")} AS NUMERIC)`;
    case "output_tokens":
      return `CAST(${tokenCount(facts, "output")} AS NUMERIC)`;
    case "attempts":
      return `COALESCE(json_array_length(${attempts}), 0)`;
  }
}

function tokenCount(facts: string, side: keyof typeof TOKEN_PLACES): string {
  return `(${facts} -> ${FACT_PLACES.tokens} ->> ${TOKEN_PLACES[side]})`;
}

/** The conditions that one and the same attempt fulfils. */
function attempted({ attempt: { code, status } = {} }: RequestQuery, dialect: Dialect): Condition[] {
  const { placeOf, attempts, membersOf } = dialect;
  const member = (name: keyof typeof ATTEMPT_PLACES) => `attempt.value ->> ${ATTEMPT_PLACES[name]}`;
  const conditions: string[] = [];
  const values: (string | number)[] = [];
  const first: Condition[] = [];
  if (code !== undefined) {
    first.push(condition(`${placeOf}(attempts, ?) > 0`, JSON.stringify(code)));
    conditions.push(`${member("code")} = ?`);
    values.push(code);
  }
  if (status !== undefined) {
    conditions.push(`CAST(${member("status")} AS NUMERIC) BETWEEN ? AND ?`);
    appendAll(values, status);
  }
  if (conditions.length === 0) return [];
  const sql = `EXISTS (SELECT 1 FROM ${membersOf}(${attempts}) AS attempt WHERE ${conditions.join(" AND ")})`;
  return [...first, condition(sql, ...values)];
}
