import type { JsonObject } from "../../../../platform/lib/json/json_object.ts";
import type { ErrorCode, FailureReason, GatewayError } from "../../../../platform/lib/basics/gateway_error.ts";
import { OVERFLOW_WORDING } from "../shared/overflow_wording.ts";

/** This format's error types by the gateway's codes. Source: docs/api/errors.md#codes. */
const TYPES: Readonly<Record<ErrorCode, string>> = {
  invalid_request: "invalid_request_error",
  invalid_provider_type: "invalid_provider_type",
  provider_type_unavailable: "provider_type_unavailable",
  unauthorized: "authentication_error",
  invalid_api_key: "authentication_error",
  upstream_auth_failed: "authentication_error",
  insufficient_credits: "billing_error",
  permission_denied: "permission_error",
  not_found: "not_found_error",
  model_not_found: "not_found_error",
  method_not_allowed: "invalid_request_error",
  conflict: "conflict_error",
  request_too_large: "request_too_large",
  rate_limited: "rate_limit_error",
  overloaded: "overloaded_error",
  storage_unavailable: "api_error",
  upstream_error: "api_error",
  route_error: "api_error",
  upstream_timeout: "timeout_error",
  internal_error: "api_error",
};

/** The body of an error, before the first byte or in a stream. Source: docs/api/errors.md#message-protocol. */
export function writeError(error: GatewayError, requestId: string): JsonObject {
  const { reason } = error.details;
  const details = reason && { details: { error_code: reason.errorCode, ...unsupportedIn(reason) } };
  return {
    type: "error",
    error: { type: typeOf(error), message: messageOf(error), ...details },
    request_id: requestId,
  };
}

function unsupportedIn({ unsupported }: FailureReason): JsonObject {
  return unsupported === undefined ? {} : { unsupported };
}

function typeOf(error: GatewayError): string {
  const isOverload = error.status === 529 || OVERLOADS.has(error.details.vendorCode ?? "");
  if (error.code === "upstream_error" && isOverload) return "overloaded_error"; // clients wait longer for this one
  return error.code === "invalid_request" && error.status === 413 ? "request_too_large" : TYPES[error.code];
}

/** Codes by which vendors of any format report an overload. */
const OVERLOADS: ReadonlySet<string> = new Set([
  "overloaded_error",
  "overloaded",
  "server_is_overloaded",
  "engine_overloaded",
  "UNAVAILABLE",
]);

/** Wordings by which other vendors report that a prompt is too long. */
const OVERFLOW = /maximum context length|context window|exceeds the maximum number of tokens|context_length_exceeded/i;

/**
 * The error message. Clients search it for the wording of this format to shorten a conversation, so it is always used.
 */
function messageOf({ code, message, details }: GatewayError): string {
  const isOverflow = details.vendorCode === "context_length_exceeded" ||
    (code === "invalid_request" && details.field === undefined && OVERFLOW.test(message));
  if (!isOverflow || message.includes(OVERFLOW_WORDING)) return message;
  const numbers = (message.match(/(?<![\w.-])\d[\d,]{3,}(?![\w-])/g) ?? []).map((digits) =>
    Number(digits.replaceAll(",", ""))
  );
  const [largest, smallest] = [Math.max(...numbers), Math.min(...numbers)];
  return largest > smallest
    ? `${OVERFLOW_WORDING}: ${largest} tokens > ${smallest} maximum`
    : `${OVERFLOW_WORDING}: ${message}`;
}
