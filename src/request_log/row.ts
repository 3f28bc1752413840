import type {
  RecordedAttempt,
  RecordedQuantities,
  RecordedRoute,
  RequestEnd,
  RequestRecord,
} from "../http/request_record.ts";
import type { ChargedPrice, LoggedRequest } from "./request_log.ts";

/** A value of a row. */
export type RowValue = string | number | bigint | null;

/** The columns that the main thread fills, in the order of the values of a row. */
export const ROW_COLUMNS = [
  "ended_at",
  "request_id",
  "received_at",
  "first_byte_ms",
  "account_id",
  "key_id",
  "method",
  "path",
  "endpoint",
  "kind",
  "model",
  "served_model",
  "provider",
  "status",
  "code",
  "message",
  "outcome",
  "routes",
  "attempts",
  "dropped",
  "input_tokens",
  "cache_read_tokens",
  "cache_write_tokens",
  "output_tokens",
  "reasoning_tokens",
  "is_estimated",
  "images",
  "cost",
  "charged",
  "request_bytes",
  "response_bytes",
  "remote",
] as const;

/** A row as read from the log, by column. */
export type StoredRow = Readonly<Record<typeof ROW_COLUMNS[number] | "position", RowValue>>;

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
  const { arrival, tokens } = record;
  const message = cut(record.message, MAX_MESSAGE_CHARACTERS);
  const routes = record.routes.length === 0 ? null : JSON.stringify(record.routes.slice(0, MAX_ROUTES));
  const attempts = record.attempts.length === 0 ? null : writeAttempts(record.attempts);
  const dropped = record.dropped.length === 0 ? null : writeDropped(record.dropped);
  values.push(
    endedAt,
    arrival.requestId,
    arrival.receivedAt,
    (record.firstByteAt ?? record.respondedAt) - arrival.receivedAt,
    record.accountId,
    record.keyId,
    arrival.method,
    cut(arrival.sentPath, MAX_NAME_CHARACTERS),
    record.endpoint,
    record.kind,
    cut(record.model, MAX_NAME_CHARACTERS),
    record.servedModel,
    record.provider,
    record.status,
    record.code,
    message,
    record.end,
    routes,
    attempts,
    dropped,
    tokens === null ? null : tokens.input,
    tokens === null ? null : tokens.cacheRead,
    tokens === null ? null : tokens.cacheWrite,
    tokens === null ? null : tokens.output,
    tokens === null ? null : tokens.reasoning,
    tokens === null ? null : tokens.isEstimated ? 1 : 0,
    record.images,
    record.cost,
    record.charged.length === 0 ? null : writeCharged(record.charged),
    record.requestBytes,
    record.responseBytes,
    arrival.remote,
  );
  return (message?.length ?? 0) + (routes?.length ?? 0) + (attempts?.length ?? 0) + (dropped?.length ?? 0);
}

/** Reads a row. */
export function readRow(row: StoredRow): LoggedRequest {
  const receivedAt = Number(row.received_at);
  return {
    position: Number(row.position),
    requestId: String(row.request_id),
    receivedAt,
    durationMs: Number(row.ended_at) - receivedAt,
    firstByteMs: Number(row.first_byte_ms),
    accountId: textOf(row.account_id),
    keyId: textOf(row.key_id),
    method: String(row.method),
    path: String(row.path),
    endpoint: textOf(row.endpoint),
    kind: textOf(row.kind),
    model: textOf(row.model),
    servedModel: textOf(row.served_model),
    provider: textOf(row.provider),
    status: Number(row.status),
    code: textOf(row.code),
    message: textOf(row.message),
    end: textOf(row.outcome) as RequestEnd | null,
    routes: row.routes === null ? [] : JSON.parse(String(row.routes)) as RecordedRoute[],
    attempts: row.attempts === null ? [] : JSON.parse(String(row.attempts)) as RecordedAttempt[],
    dropped: row.dropped === null ? [] : JSON.parse(String(row.dropped)) as string[],
    tokens: row.input_tokens === null ? null : {
      input: Number(row.input_tokens),
      cacheRead: Number(row.cache_read_tokens),
      cacheWrite: Number(row.cache_write_tokens),
      output: Number(row.output_tokens),
      reasoning: Number(row.reasoning_tokens),
      isEstimated: row.is_estimated === 1,
    },
    images: Number(row.images),
    cost: row.cost === null ? null : BigInt(row.cost),
    charged: row.charged === null ? [] : readCharged(String(row.charged)),
    requestBytes: numberOf(row.request_bytes),
    responseBytes: numberOf(row.response_bytes),
    remote: String(row.remote),
  };
}

function textOf(value: RowValue): string | null {
  return value === null ? null : String(value);
}

function numberOf(value: RowValue): number | null {
  return value === null ? null : Number(value);
}

function writeAttempts(attempts: readonly RecordedAttempt[]): string {
  if (attempts.every(isShort) && attempts.length <= MAX_ATTEMPTS) return JSON.stringify(attempts);
  return JSON.stringify(
    attempts.slice(-MAX_ATTEMPTS).map((attempt) => ({
      ...attempt,
      vendorRequestId: cut(attempt.vendorRequestId, MAX_NAME_CHARACTERS),
      message: cut(attempt.message, MAX_MESSAGE_CHARACTERS),
    })),
  );
}

function isShort({ message, vendorRequestId }: RecordedAttempt): boolean {
  return (message === null || message.length <= MAX_MESSAGE_CHARACTERS) &&
    (vendorRequestId === null || vendorRequestId.length <= MAX_NAME_CHARACTERS);
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

function writeDropped(dropped: readonly string[]): string {
  return JSON.stringify(dropped.slice(0, MAX_DROPPED_FIELDS).map((name) => cut(name, MAX_NAME_CHARACTERS)));
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
