import { protocolAt } from "../../platform/endpoints/protocols.ts";
import type { RecordedAttempt } from "../../platform/http/request/request_record.ts";
import type { JsonObject } from "../../platform/lib/json/json_object.ts";
import { writeMoney, writeRate } from "../../platform/lib/basics/money.ts";
import type { LoggedRequest, RequestPage } from "./request_log.ts";

/** Writes a request for its account. Source: docs/api/limits.md#requests. */
export function writeOwnRequest(request: LoggedRequest): JsonObject {
  const { accountId: _, ...own } = shared(request);
  return { ...own, attempts: request.attempts.map(writeOwnAttempt) };
}

/** Writes a request for operators. Source: docs/api/admin.md#requests. */
export function writeRequest(request: LoggedRequest): JsonObject {
  const { accountId, ...rest } = shared(request);
  return {
    ...rest,
    account: accountId,
    answered_by: request.answeredBy ?? null,
    position: request.position,
    attempts: request.attempts.map((attempt) => ({ ...writeOwnAttempt(attempt), model: attempt.model })),
    routes: request.routes.map(({ candidates, ...route }) => ({
      ...route,
      candidates: candidates.map((candidate) => ({ ...candidate })),
    })),
  };
}

/** Writes a page of requests. */
export function writePage({ requests, next }: RequestPage, write: (request: LoggedRequest) => JsonObject): JsonObject {
  return { data: requests.map(write), next: next === null ? null : String(next) };
}

function shared(request: LoggedRequest) {
  const { tokens, cost, code, reserved, refusal } = request;
  return {
    id: request.requestId,
    object: "request",
    accountId: request.accountId,
    key: request.keyId,
    received_at: request.receivedAt / 1_000,
    first_byte_ms: request.firstByteMs,
    duration_ms: request.durationMs,
    method: request.method,
    path: request.path,
    endpoint: request.endpoint,
    protocol: protocolAt(request.path)?.name ?? null,
    kind: request.kind,
    model: request.model,
    served_model: request.servedModel,
    provider: request.provider,
    status: request.status,
    error: code === null ? null : { code, message: request.message },
    refusal: refusal === null ? null : {
      holder: refusal.holder,
      limit: refusal.limit,
      value: refusal.value,
      resets_at: refusal.resetAt === null ? null : refusal.resetAt / 1_000,
    },
    reserved: reserved === null ? null : { amount: writeMoney(reserved.amount), tokens: reserved.tokens ?? null },
    end: request.end,
    dropped: [...request.dropped],
    usage: tokens === null ? null : {
      input_tokens: tokens.input,
      cache_read_tokens: tokens.cacheRead,
      cache_write_tokens: tokens.cacheWrite,
      output_tokens: tokens.output,
      reasoning_tokens: tokens.reasoning,
      is_estimated: tokens.isEstimated,
    },
    images: request.images,
    cost: cost === null ? null : writeMoney(cost),
    charged: request.charged.map(({ price, quantity, rate }) => ({ price, quantity, rate: writeRate(rate) })),
    price_conditions: [...request.priceReasons],
    request_bytes: request.requestBytes,
    response_bytes: request.responseBytes,
    client_address: request.remote,
    session: request.session ?? null,
  };
}

/** Without the name of the model at the vendor, which can be one of the operator's deployments. */
function writeOwnAttempt(attempt: RecordedAttempt): JsonObject {
  return {
    provider: attempt.provider,
    started_at: attempt.startedAt / 1_000,
    duration_ms: attempt.durationMs,
    status: attempt.status,
    vendor_request_id: attempt.vendorRequestId,
    code: attempt.code,
    message: attempt.message,
  };
}
