import type { RecordedAttempt, RequestRecord } from "../../platform/http/request/request_record.ts";
import { loggedModelOf, loggedPathOf } from "../../platform/http/logged_texts.ts";
import type { RequestTrace } from "../../platform/lib/tracing/trace_context.ts";
import { attributesOf, CLIENT, ERROR, nanoseconds, SERVER, type Span } from "./otlp.ts";

/** What spans say about a provider. */
export interface TracedVendor {
  /** The value of `gen_ai.provider.name`. */
  readonly name: string;
  /** The host and port of its address; null if it is not configured any more. */
  readonly address: string | null;
  readonly port: number | null;
}

/** Options of {@linkcode spansOf}. */
export interface SpanOptions {
  /** Unix milliseconds of the end of the request. */
  readonly endedAt: number;
  /** Returns the vendor of a provider, by its configured name. */
  readonly vendorOf: (provider: string) => TracedVendor;
}

const MAX_TEXT_CHARACTERS = 200;
const UNITS_PER_USD = 1e10;

/**
 * Returns the spans of a request that has ended: one for the request, and one for each attempt at a provider. They
 * contain no prompts, outputs, error messages or URL queries.
 *
 * Source: the semantic conventions of OpenTelemetry 1.38 for HTTP servers and for generative AI clients.
 */
export function spansOf(record: RequestRecord, trace: RequestTrace, options: SpanOptions): Span[] {
  const serving = servingAttempt(record);
  const spans = [serverSpan(record, trace, options.endedAt)];
  for (const attempt of record.attempts) {
    if (attempt.spanId !== undefined) {
      spans.push(attemptSpan(attempt, attempt.spanId, { record, trace, isServing: attempt === serving, ...options }));
    }
  }
  return spans;
}

/** The attempt whose reply the caller got; null if all failed. Its span lasts as long as the reply. */
function servingAttempt({ lastAttempt }: RequestRecord): RecordedAttempt | null {
  return lastAttempt !== null && lastAttempt.code === null ? lastAttempt : null;
}

function serverSpan(record: RequestRecord, trace: RequestTrace, endedAt: number): Span {
  const { arrival, endpoint, status, code, tokens, cost, end } = record;
  const isFailed = status >= 500 || end === "cut";
  return {
    ...idsOf(trace, trace.spanId, trace.parentId),
    name: endpoint === null ? arrival.method : `${arrival.method} ${endpoint}`,
    kind: SERVER,
    startTimeUnixNano: nanoseconds(arrival.receivedAt),
    endTimeUnixNano: nanoseconds(Math.max(endedAt, arrival.receivedAt)),
    attributes: attributesOf({
      "http.request.method": arrival.method,
      "http.response.status_code": status,
      "http.route": endpoint,
      "url.path": cut(loggedPathOf(arrival)),
      "url.scheme": "http",
      "error.type": errorTypeOf(record),
      "switchyard.request_id": arrival.requestId,
      "switchyard.account_id": record.accountId,
      "switchyard.key_id": record.keyId,
      "switchyard.model": cut(record.servedModel ?? loggedModelOf(record) ?? ""),
      "switchyard.provider": record.provider,
      "switchyard.error_code": code,
      "switchyard.end": end,
      "switchyard.cost": cost === null ? null : Number(cost) / UNITS_PER_USD,
      "switchyard.tokens_estimated": tokens === null ? null : tokens.isEstimated,
      "switchyard.attempts": record.attempts.length,
    }),
    ...firstByteOf(record),
    status: isFailed ? { code: ERROR } : {},
  };
}

/** The conventions want a class of errors: the code of the gateway, or else the status. */
function errorTypeOf({ status, code, end }: RequestRecord): string | null {
  if (end === "cut") return "cut";
  return status >= 500 ? code ?? String(status) : null;
}

interface AttemptContext extends SpanOptions {
  readonly record: RequestRecord;
  readonly trace: RequestTrace;
  readonly isServing: boolean;
}

function attemptSpan(attempt: RecordedAttempt, spanId: string, context: AttemptContext): Span {
  const { record, trace, isServing, vendorOf } = context;
  const operation = operationOf(record.endpoint);
  const vendor = vendorOf(attempt.provider);
  const isCut = isServing && record.end === "cut";
  return {
    ...idsOf(trace, spanId, trace.spanId),
    name: `${operation} ${cut(attempt.model)}`,
    kind: CLIENT,
    startTimeUnixNano: nanoseconds(attempt.startedAt),
    endTimeUnixNano: nanoseconds(Math.max(endOf(attempt, context), attempt.startedAt)),
    attributes: attributesOf({
      "gen_ai.operation.name": operation,
      "gen_ai.provider.name": vendor.name,
      "gen_ai.request.model": cut(attempt.model),
      "server.address": vendor.address,
      "server.port": vendor.port,
      "http.response.status_code": attempt.status,
      "error.type": isCut ? "cut" : attempt.code,
      "switchyard.provider": attempt.provider,
      "switchyard.credential": attempt.credential, // its name
      "switchyard.vendor_request_id": cut(attempt.vendorRequestId ?? ""),
      ...isServing ? usageOf(record) : {},
    }),
    ...isServing ? firstByteOf(record) : {},
    status: attempt.code !== null || isCut ? { code: ERROR } : {},
  };
}

function usageOf({ tokens, cost }: RequestRecord): Record<string, string | number | null> {
  return {
    "gen_ai.usage.input_tokens": tokens?.input ?? null,
    "gen_ai.usage.output_tokens": tokens?.output ?? null,
    "gen_ai.usage.cache_read.input_tokens": tokens?.cacheRead || null,
    "gen_ai.usage.cache_creation.input_tokens": tokens?.cacheWrite || null,
    "gen_ai.usage.reasoning.output_tokens": tokens?.reasoning || null,
    "switchyard.cost": cost === null ? null : Number(cost) / UNITS_PER_USD,
  };
}

/** A stream lasts until the request ends, another reply until the response begins. */
function endOf(attempt: RecordedAttempt, { isServing, record, endedAt }: AttemptContext): number {
  if (isServing) return record.firstByteAt === null ? Math.min(record.respondedAt || endedAt, endedAt) : endedAt;
  return attempt.durationMs === null ? endedAt : attempt.startedAt + attempt.durationMs;
}

/** The operations of the conventions, which have none for token counts, cached contents, scores and audio. */
function operationOf(endpoint: string | null): string {
  if (endpoint === null) return "chat";
  if (endpoint.includes("/images/")) return "generate_content";
  if (/count_?tokens|input_tokens/i.test(endpoint)) return "count_tokens";
  if (/embed/i.test(endpoint)) return "embeddings";
  const other = OTHER_OPERATIONS.find((each) => endpoint.endsWith(`/${each}`));
  if (other !== undefined) return other;
  return endpoint.includes("cachedContents") ? "create_cached_content" : "chat";
}

/** The ends of the paths of endpoints that name their operation. */
const OTHER_OPERATIONS = ["moderations", "rerank", "speech", "transcriptions", "translations"];

function idsOf({ traceId, state }: RequestTrace, spanId: string, parentSpanId: string | null) {
  return {
    traceId,
    spanId,
    ...parentSpanId === null ? {} : { parentSpanId },
    ...state === "" ? {} : { traceState: state },
  };
}

function firstByteOf({ firstByteAt }: RequestRecord): Pick<Span, "events"> {
  return firstByteAt === null ? {} : { events: [{ timeUnixNano: nanoseconds(firstByteAt), name: "first_byte" }] };
}

function cut(text: string): string {
  return text.slice(0, MAX_TEXT_CHARACTERS);
}
