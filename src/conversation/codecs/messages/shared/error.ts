import type { VendorError } from "../../../upstream_format.ts";
import type { JsonObject } from "../../../../lib/json_object.ts";
import type { ErrorCode, FailureReason, GatewayError } from "../../../../lib/gateway_error.ts";
import { isObject, listOf, textOrNull } from "../../../wire_value.ts";

/** The form's word for each of the gateway's codes. Source: DESIGN "Errors". */
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

/** The HTTP status of each of the form's own words. Source: Messages API reference, "Errors". */
const STATUS: Readonly<Record<string, number>> = {
  invalid_request_error: 400,
  context_length_exceeded: 400,
  authentication_error: 401,
  billing_error: 402,
  permission_error: 403,
  not_found_error: 404,
  conflict_error: 409,
  request_too_large: 413,
  rate_limit_error: 429,
  api_error: 500,
  timeout_error: 504,
  overloaded_error: 529,
};

/** The HTTP status that a word of the form stands for; null for others. */
export function statusOf(code: string | null): number | null {
  return code !== null && Object.hasOwn(STATUS, code) ? STATUS[code] : null;
}

/** The body of an error, before the first byte or in a stream. Source: DESIGN "Errors". */
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

/** How vendors say that they are overloaded: this form's own word first. */
const OVERLOADS: ReadonlySet<string> = new Set([
  "overloaded_error",
  "overloaded",
  "server_is_overloaded",
  "engine_overloaded",
  "UNAVAILABLE",
]);

const OVERFLOW_WORDING = "prompt is too long";

/** How other vendors say that a prompt does not fit. */
const OVERFLOW = /maximum context length|context window|exceeds the maximum number of tokens|context_length_exceeded/i;

/** Tools look for these words to shorten a conversation, so another vendor's words for it are told in them. */
function messageOf({ code, message, details }: GatewayError): string {
  const isOverflow = details.vendorCode === "context_length_exceeded" ||
    (code === "invalid_request" && details.field === undefined && OVERFLOW.test(message));
  if (!isOverflow || message.includes(OVERFLOW_WORDING)) return message;
  const numbers = (message.match(/(?<![\w.-])\d[\d,]{3,}(?![\w-])/g) ?? []).map((word) =>
    Number(word.replaceAll(",", ""))
  );
  const [most, least] = [Math.max(...numbers), Math.min(...numbers)];
  return most > least ? `${OVERFLOW_WORDING}: ${most} tokens > ${least} maximum` : `${OVERFLOW_WORDING}: ${message}`;
}

/** What a vendor's error body says. Tolerant: vendors that resemble the form also send plain texts and pages. */
export function readError(body: unknown): VendorError {
  const error = isObject(body) ? body.error ?? body : body;
  const message = isObject(error) ? textOrNull(error.message) ?? textOrNull(error.detail) ?? "" : plainText(error);
  const type = isObject(error) ? textOrNull(error.type) : null;
  return {
    message,
    code: isOwnOverflow(message) ? "context_length_exceeded" : type,
    field: /^([a-z_]+(?:\.[\w.]+)?): /.exec(message)?.[1] ?? null,
    retryAfterSeconds: null,
    ...reasonIn(isObject(error) ? error.details : null),
  };
}

const REASON = /^[a-z][a-z0-9_]{0,63}$/;

/** Words alone are read, which hold no secret. */
function reasonIn(details: unknown): { reason?: FailureReason } {
  if (!isObject(details) || typeof details.error_code !== "string" || !REASON.test(details.error_code)) return {};
  const unsupported = listOf(details.unsupported).filter((word) => typeof word === "string" && REASON.test(word));
  return {
    reason: {
      errorCode: details.error_code,
      ...(unsupported.length > 0 ? { unsupported: unsupported as string[] } : {}),
    },
  };
}

function isOwnOverflow(message: string): boolean {
  return message.includes(OVERFLOW_WORDING) || message.includes("exceed context limit");
}

const LONGEST_PLAIN_TEXT = 1000;

function plainText(value: unknown): string {
  if (typeof value !== "string" || /^\s*</.test(value)) return "";
  return value.trim().slice(0, LONGEST_PLAIN_TEXT);
}
