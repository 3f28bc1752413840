import { appendAll } from "../../platform/lib/collections/append_all.ts";
import { loggedMessageOf, loggedModelOf, loggedPathOf } from "../../platform/http/logged_texts.ts";
import type {
  RecordedAttempt,
  RecordedQuantities,
  RecordedRefusal,
  RecordedRoute,
  RecordedTokens,
  RequestEnd,
  RequestRecord,
} from "../../platform/http/request/request_record.ts";
import type { ChargedPrice, LoggedRequest } from "./request_log.ts";

/** A value of a row. */
export type RowValue = string | number | bigint | null;

/**
 * The columns that the main thread fills, in the order of the values of a row: those that most queries select by, and
 * the other facts as one text, since each column costs time at each request.
 */
export const ROW_COLUMNS = [
  "ended_at",
  "request_id",
  "account_id",
  "key_id",
  "model",
  "served_model",
  "provider",
  "status",
  "code",
  "message",
  "attempts",
  "facts",
] as const;

/** A row as read from the log, by column. */
export type StoredRow = Readonly<Record<typeof ROW_COLUMNS[number] | "position", RowValue>>;

/** The facts of a request that no index has, as JSON. A new fact is another member at the end. */
type Facts = readonly [
  receivedAt: number,
  firstByteMs: number | null,
  method: string,
  path: string,
  /** Zero if it equals the path. */
  endpoint: string | 0 | null,
  kind: string | null,
  end: RequestEnd | null,
  tokens: readonly [input: number, cacheRead: number, cacheWrite: number, output: number, reasoning: number] | null,
  isEstimated: 0 | 1,
  images: number,
  cost: string | null,
  charged: string,
  requestBytes: number | null,
  responseBytes: number | null,
  remote: string,
  routes: readonly RecordedRoute[],
  dropped: readonly string[],
  /** Absent in rows of earlier versions, like all that follow. */
  reserved?: readonly [amount: string, tokens: number | null] | null,
  refusal?: RecordedRefusal | null,
  priceReasons?: readonly string[],
  answeredBy?: string | null,
  session?: string,
];

/** Places of the facts that queries select by, without an index. */
export const FACT_PLACES = {
  receivedAt: 0,
  firstByteMs: 1,
  method: 2,
  path: 3,
  endpoint: 4,
  kind: 5,
  end: 6,
  tokens: 7,
  isEstimated: 8,
  images: 9,
  cost: 10,
  requestBytes: 12,
  responseBytes: 13,
  remote: 14,
  dropped: 16,
  refusal: 18,
  session: 21,
} as const;

/** Places of the counts of tokens. */
export const TOKEN_PLACES = { input: 0, output: 3 } as const;

/** Places of what queries select attempts by. */
export const ATTEMPT_PLACES = { status: 5, code: 7 } as const;

/** An attempt as JSON. Queries search for its first member. */
type StoredAttempt = readonly [
  provider: string,
  credential: string | null,
  model: string,
  startedAt: number,
  durationMs: number | null,
  status: number | null,
  vendorRequestId: string | null,
  code: string | null,
  message: string | null,
];

const MAX_NAME_CHARACTERS = 200;
const MAX_MESSAGE_CHARACTERS = 1_000;
const MAX_ATTEMPTS = 16;
const MAX_ROUTES = 8;
const MAX_DROPPED_FIELDS = 50;

/**
 * Appends the values of a request's row. Texts of callers and vendors are cut. Returns the number of characters of the
 * texts that can be long.
 *
 * @param endedAt Unix milliseconds.
 */
export function appendRow(values: RowValue[], record: RequestRecord, endedAt: number): number {
  const { arrival } = record;
  const message = cut(loggedMessageOf(record), MAX_MESSAGE_CHARACTERS);
  const attempts = record.attempts.length === 0 ? null : writeAttempts(record.attempts);
  const facts = writeFacts(record);
  values.push(
    endedAt,
    arrival.requestId,
    record.accountId,
    record.keyId,
    cut(loggedModelOf(record), MAX_NAME_CHARACTERS),
    cut(record.servedModel, MAX_NAME_CHARACTERS),
    record.provider,
    record.status,
    record.code,
    message,
    attempts,
    facts,
  );
  return (message?.length ?? 0) + (attempts?.length ?? 0) + facts.length;
}

const SEPARATOR = "\0";
const WIDTH = ROW_COLUMNS.length;
const ENDED_AT_COLUMN = ROW_COLUMNS.indexOf("ended_at");
const ACCOUNT_COLUMN = ROW_COLUMNS.indexOf("account_id");
const STATUS_COLUMN = ROW_COLUMNS.indexOf("status");

/**
 * Joins the values of rows into one text, which costs the sender and the receiver of a message half as much as the
 * values. No value contains a zero. An empty text is null afterwards.
 */
export function joinRows(values: readonly RowValue[]): string {
  return values.join(SEPARATOR);
}

/**
 * Splits a text of {@linkcode joinRows}.
 *
 * @throws {Error} If it is not one.
 */
export function splitRows(text: string): RowValue[] {
  const values: RowValue[] = text.split(SEPARATOR);
  if (values.length % WIDTH !== 0) throw new Error("the rows of the log are damaged");
  for (let at = 0; at < values.length; at++) if (values[at] === "") values[at] = null;
  for (let at = 0; at < values.length; at += WIDTH) {
    for (const column of [at + ENDED_AT_COLUMN, at + STATUS_COLUMN]) values[column] = Number(values[column]);
  }
  return values;
}

/** Removes the rows of some accounts from a text of {@linkcode joinRows}. */
export function withoutRows(
  text: string,
  isRemoved: (account: string) => boolean,
): { readonly text: string; readonly rows: number } {
  const values = text.split(SEPARATOR);
  const kept: string[] = [];
  for (let at = 0; at < values.length; at += WIDTH) {
    if (!isRemoved(values[at + ACCOUNT_COLUMN] ?? "")) appendAll(kept, values.slice(at, at + WIDTH));
  }
  return { text: joinRows(kept), rows: kept.length / WIDTH };
}

/** Reads a row. */
export function readRow(row: StoredRow): LoggedRequest {
  const facts = JSON.parse(String(row.facts)) as Facts;
  const [receivedAt, firstByteMs, method, path, endpoint, kind, end, tokens, isEstimated] = facts;
  const [, , , , , , , , , images, cost, charged, requestBytes, responseBytes, remote, routes, dropped] = facts;
  const [, , , , , , , , , , , , , , , , , reserved = null, refusal = null, ...others] = facts;
  const [priceReasons = [], answeredBy = null, session] = others;
  return {
    position: Number(row.position),
    requestId: String(row.request_id),
    receivedAt,
    durationMs: Number(row.ended_at) - receivedAt,
    firstByteMs,
    accountId: textOf(row.account_id),
    keyId: textOf(row.key_id),
    method,
    path,
    endpoint: endpoint === SAME_AS_PATH ? path : endpoint,
    kind,
    model: textOf(row.model),
    servedModel: textOf(row.served_model),
    provider: textOf(row.provider),
    status: Number(row.status),
    code: textOf(row.code),
    message: textOf(row.message),
    end,
    routes,
    reserved: reserved === null ? null : { amount: BigInt(reserved[0]), tokens: reserved[1] ?? undefined },
    refusal,
    attempts: row.attempts === null ? [] : (JSON.parse(String(row.attempts)) as StoredAttempt[]).map(readAttempt),
    dropped,
    tokens: tokens === null ? null : readTokens(tokens, isEstimated === 1),
    images,
    cost: cost === null ? null : BigInt(cost),
    charged: readCharged(charged),
    priceReasons,
    ...answeredBy !== null && { answeredBy },
    ...session !== undefined && { session },
    requestBytes,
    responseBytes,
    remote,
  };
}

function textOf(value: RowValue): string | null {
  return value === null ? null : String(value);
}

const SAME_AS_PATH = 0;

function writeFacts(record: RequestRecord): string {
  const { arrival, tokens } = record;
  const path = cut(loggedPathOf(arrival), MAX_NAME_CHARACTERS);
  return JSON.stringify(
    [
      arrival.receivedAt,
      record.firstByteMs,
      arrival.method,
      path,
      record.endpoint === path ? SAME_AS_PATH : record.endpoint,
      record.kind,
      record.end,
      tokens === null ? null : [tokens.input, tokens.cacheRead, tokens.cacheWrite, tokens.output, tokens.reasoning],
      tokens?.isEstimated ? 1 : 0,
      record.images,
      record.cost === null ? null : String(record.cost),
      writeCharged(record.charged),
      record.requestBytes,
      record.responseBytes,
      arrival.remote,
      record.routes.length <= MAX_ROUTES ? record.routes : record.routes.slice(0, MAX_ROUTES),
      record.dropped.length === 0 ? record.dropped : cutDropped(record.dropped),
      record.reserved === null ? null : [String(record.reserved.amount), record.reserved.tokens ?? null],
      record.refusal,
      ...lastFactsOf(record),
    ] satisfies Facts,
  );
}

/** Absent for almost all requests, since it costs bytes for each. */
function lastFactsOf(
  { priceReasons, answeredBy, session }: RequestRecord,
): [] | [priceReasons: readonly string[], answeredBy?: string | null, session?: string] {
  if (session !== undefined) return [priceReasons, answeredBy ?? null, session];
  if (answeredBy !== undefined) return [priceReasons, answeredBy];
  return priceReasons.length === 0 ? [] : [priceReasons];
}

function readTokens(
  [input, cacheRead, cacheWrite, output, reasoning]: NonNullable<Facts[7]>,
  isEstimated: boolean,
): RecordedTokens {
  return { input, cacheRead, cacheWrite, output, reasoning, isEstimated };
}

function writeAttempts(attempts: readonly RecordedAttempt[]): string {
  const kept = attempts.length <= MAX_ATTEMPTS ? attempts : attempts.slice(-MAX_ATTEMPTS);
  return JSON.stringify(kept.map((attempt): StoredAttempt => [
    attempt.provider,
    attempt.credential,
    attempt.model,
    attempt.startedAt,
    attempt.durationMs,
    attempt.status,
    cut(attempt.vendorRequestId, MAX_NAME_CHARACTERS),
    attempt.code,
    cut(loggedMessageOf(attempt), MAX_MESSAGE_CHARACTERS),
  ]));
}

function readAttempt(stored: StoredAttempt): RecordedAttempt {
  const [provider, credential, model, startedAt, durationMs, status, vendorRequestId, code, message] = stored;
  return { provider, credential, model, startedAt, durationMs, status, vendorRequestId, code, message };
}

/** A line for each price above zero: key, quantity, rate. */
function writeCharged(charged: readonly RecordedQuantities[]): string {
  let text = "";
  for (const { quantities, tariff } of charged) {
    for (const key in quantities) {
      const quantity = quantities[key];
      if (quantity && tariff[key]) text += `${text === "" ? "" : "\n"}${key} ${quantity} ${tariff[key]}`;
    }
  }
  return text;
}

function readCharged(text: string): ChargedPrice[] {
  return text === "" ? [] : text.split("\n").map((line) => {
    const [price = "", quantity, rate = "0"] = line.split(" ");
    return { price, quantity: Number(quantity), rate: BigInt(rate) };
  });
}

function cutDropped(dropped: readonly string[]): string[] {
  return dropped.slice(0, MAX_DROPPED_FIELDS).map((name) => cut(name, MAX_NAME_CHARACTERS));
}

/**
 * The start of a text. A short part of a long text would hold the memory of all of it, so the part is copied. Zeros are
 * replaced, because the runtime reads texts of SQLite up to the first zero.
 */
function cut<T extends string | null>(text: T, maxCharacters: number): T {
  if (text === null || (text.length <= maxCharacters && !text.includes("\0"))) return text;
  const start = text.length <= maxCharacters ? text : `${text.slice(0, maxCharacters).toWellFormed()}…`;
  return JSON.parse(JSON.stringify(start.replaceAll("\0", "\ufffd"))) as T;
}
