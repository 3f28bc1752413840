import { appendAll } from "../../platform/lib/collections/append_all.ts";
import { isRequestId } from "../../platform/lib/basics/ids.ts";
import type { MaybePromise } from "../../platform/lib/basics/maybe_promise.ts";
import { type Condition, condition, type Dialect, factConditions } from "./fact_conditions.ts";
import type { ListAnswer } from "./messages.ts";
import type { RequestQuery } from "./request_log.ts";
import type { StoredRow } from "./row.ts";

/** Positions per millisecond. A position is when the request ended, and rises even if the clock does not. */
export const POSITIONS_PER_MS = 1_000;

/** The rows that a query visits: all, or only those with a text, which an index has: see {@linkcode HAS_TEXT}. */
export type RowSource = "all" | "texts";

/** The rows of a log, in a database that understands the conditions. */
export interface SearchedRows {
  /** See {@linkcode Dialect}. */
  readonly dialect: Dialect;
  /** The request with this id; null if there is none. */
  get(requestId: string): MaybePromise<StoredRow | null>;
  /** The position of the row that `offset` rows precede; null if there are fewer. */
  positionAt(rows: VisitedRows, offset: number): MaybePromise<number | null>;
  /** The rows that match. */
  select(rows: VisitedRows, limit: number): MaybePromise<readonly StoredRow[]>;
}

/** Rows in an order. */
export interface VisitedRows {
  /** The condition has that of the source. */
  readonly source: RowSource;
  readonly condition: Condition;
  /** Of the position. */
  readonly order: "asc" | "desc";
}

/**
 * The condition of the rows with the texts of errors: requests that failed, or that had a failed attempt, since an
 * array of several attempts contains it. Released steps of the schemas contain the condition.
 */
const HAS_TEXT = (placeOf: string) => `(status >= 400 OR message IS NOT NULL OR ${placeOf}(attempts, '],[') > 0)`;

/** The time after which a query returns what it has found, so that a list is always answered within 200 ms. */
const QUERY_MS = 100;

/** Rows that a query visits before it lets writes and other queries proceed: a few milliseconds. */
const ROWS_PER_STEP = 4_000;
/** The longest time of steps without a pause. */
const SLICE_MS = 8;

/** What a search is run with. */
export interface SearchOptions {
  /** Milliseconds of any clock. */
  readonly now: () => number;
  /** Lets the thread do other work. */
  readonly pause: () => Promise<void>;
}

/**
 * Lists requests step by step. A step visits at most {@linkcode ROWS_PER_STEP} rows, since SQLite cannot be interrupted
 * in this runtime, and so that a query returns what it has found at its deadline.
 */
export async function search(
  log: SearchedRows,
  query: RequestQuery,
  { now, pause }: SearchOptions,
): Promise<ListAnswer> {
  const own = query.text !== undefined && isRequestId(query.text) ? await log.get(query.text) : null;
  if (own !== null) return await ownRow(log, query, own);
  const { order, limit } = query;
  let sliceFrom = now();
  const until = sliceFrom + QUERY_MS;
  const source = sourceOf(query);
  const indexed = source === "all" ? indexedConditions(query) : [condition(HAS_TEXT(log.dialect.placeOf))];
  const others = [...otherConditions(query, log.dialect), ...source === "all" ? [] : indexedConditions(query)];
  const rows: StoredRow[] = [];
  let after = query.after ?? null;
  while (true) {
    const range = [...indexed, ...rangeOf(query, after)];
    const end = await log.positionAt({ source, condition: all(range), order }, ROWS_PER_STEP - 1);
    const bound = end === null ? [] : [condition(order === "desc" ? "position >= ?" : "position <= ?", end)];
    const found = { source, condition: all([...range, ...bound, ...others]), order };
    appendAll(rows, await log.select(found, limit - rows.length));
    const last = rows.at(-1);
    if (rows.length === limit && last !== undefined) return { rows, next: Number(last.position) };
    if (end === null) return { rows, next: null };
    const time = now();
    if (time >= until) return { rows, next: end };
    after = end;
    if (time < sliceFrom + SLICE_MS) continue;
    await pause();
    sliceFrom = now();
  }
}

/** The index of texts has every request with a failed attempt, and few others. */
function sourceOf({ text, ranges = [] }: RequestQuery): RowSource {
  const isOfErrors = text !== undefined && !canBeInId(text);
  const isOfRetries = ranges.some(({ fact, min }) => fact === "attempts" && min !== null && min > 1);
  return isOfErrors || isOfRetries ? "texts" : "all";
}

/** The list of the one request whose whole id is searched for. */
async function ownRow(log: SearchedRows, query: RequestQuery, { position }: StoredRow): Promise<ListAnswer> {
  const { text: _, ...rest } = query;
  const conditions = [
    condition("position = ?", Number(position)),
    ...rangeOf(rest, rest.after ?? null),
    ...indexedConditions(rest),
    ...otherConditions(rest, log.dialect),
  ];
  const rows = await log.select({ source: "all", condition: all(conditions), order: query.order }, 1);
  return { rows, next: null };
}

/**
 * Whether a text can be a part of an id. All ids contain digits and no spaces, so other texts are searched for only
 * where errors are: in few rows. Texts of errors may of course have digits.
 */
function canBeInId(text: string): boolean {
  return /\d/.test(text) && !/\s/.test(text);
}

/** The condition that selects one index. */
function indexedConditions({ key, account, status }: RequestQuery): Condition[] {
  if (account !== undefined) return [condition("account_id = ?", account)];
  if (key !== undefined) return [condition("account_id = (SELECT account_id FROM keys WHERE key_id = ?)", key)];
  if (status !== undefined && status[0] === status[1] && status[0] >= 400) {
    return [condition("status >= 400 AND status = ?", status[0])];
  }
  return [];
}

function rangeOf({ order, from, to }: RequestQuery, after: number | null): Condition[] {
  const conditions: Condition[] = [];
  if (from !== undefined) conditions.push(condition("position >= ?", from * POSITIONS_PER_MS));
  if (to !== undefined) conditions.push(condition("position < ?", to * POSITIONS_PER_MS));
  if (after !== null) conditions.push(condition(order === "desc" ? "position < ?" : "position > ?", after));
  return conditions;
}

function otherConditions(query: RequestQuery, dialect: SearchedRows["dialect"]): Condition[] {
  const { placeOf, like } = dialect;
  const { key, model, provider, status, code, text } = query;
  const conditions: Condition[] = factConditions(query, dialect);
  if (key !== undefined) conditions.push(condition("key_id = ?", key));
  if (status !== undefined) conditions.push(condition("status BETWEEN ? AND ?", ...status));
  if (code !== undefined) conditions.push(condition("code = ?", code));
  if (model !== undefined) conditions.push(condition("(model = ? OR served_model = ?)", model, model));
  if (provider !== undefined) {
    const attempted = `[${JSON.stringify(provider)},`;
    conditions.push(condition(`(provider = ? OR ${placeOf}(attempts, ?) > 0)`, provider, attempted));
  }
  if (text !== undefined) {
    const pattern = likePattern(text);
    const inAttempts = likePattern(JSON.stringify(text).slice(1, -1));
    const sql = ["request_id", "message", "attempts"].map((column) => `${column} ${like} ? ESCAPE '\\'`).join(" OR ");
    conditions.push(condition(`(${sql})`, pattern, pattern, inAttempts));
  }
  return conditions;
}

function likePattern(text: string): string {
  return `%${text.replace(/[\\%_]/g, "\\$&")}%`;
}

function all(conditions: readonly Condition[]): Condition {
  if (conditions.length === 0) return { sql: "TRUE", values: [] };
  return {
    sql: conditions.map(({ sql }) => sql).join(" AND "),
    values: conditions.flatMap(({ values }) => values),
  };
}
