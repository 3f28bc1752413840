import type { VendorError } from "../../../upstream_format.ts";
import type { Frame } from "../../../../lib/frame.ts";
import type { JsonObject } from "../../../../lib/json_object.ts";
import type { ErrorCode, GatewayError } from "../../../../lib/gateway_error.ts";
import { isObject, numberOrNull, parsedOrNull, textOrNull } from "../../../wire_value.ts";
import { objectsIn } from "./fields.ts";

/** Source: DESIGN "Errors". */
const STATUSES: Readonly<Record<ErrorCode, string>> = {
  invalid_request: "INVALID_ARGUMENT",
  invalid_provider_type: "INVALID_ARGUMENT",
  provider_type_unavailable: "INVALID_ARGUMENT",
  unauthorized: "UNAUTHENTICATED",
  invalid_api_key: "UNAUTHENTICATED",
  upstream_auth_failed: "UNAUTHENTICATED",
  insufficient_credits: "FAILED_PRECONDITION",
  permission_denied: "PERMISSION_DENIED",
  not_found: "NOT_FOUND",
  model_not_found: "NOT_FOUND",
  method_not_allowed: "UNIMPLEMENTED",
  conflict: "ABORTED",
  request_too_large: "INVALID_ARGUMENT",
  rate_limited: "RESOURCE_EXHAUSTED",
  overloaded: "UNAVAILABLE",
  storage_unavailable: "UNAVAILABLE",
  upstream_error: "UNAVAILABLE",
  route_error: "UNAVAILABLE",
  upstream_timeout: "DEADLINE_EXCEEDED",
  internal_error: "INTERNAL",
};

const TYPE = "type.googleapis.com/google.rpc.";
const MESSAGE_MAX = 2000;

/**
 * `{error: {code, message, status}}`, with `details` of the vendor's own kinds where there is more to say: the field at
 * fault (BadRequest), seconds until a retry (RetryInfo). Errors of provider routing also have `type`.
 * Source: DESIGN "Errors"; SPEC "Errors", rule 4; google.rpc error model.
 */
export function writeError(error: GatewayError): JsonObject {
  const { code } = error;
  const body: JsonObject = { code: error.status, message: error.message, status: statusOf(error) };
  if (code === "invalid_provider_type" || code === "provider_type_unavailable") body.type = code;
  const details = detailsOf(error);
  if (details.length > 0) body.details = details;
  return { error: body };
}

/** A 400 has three words here; a vendor of this form knows which. */
const WORDS_OF_400: ReadonlySet<string> = new Set(["INVALID_ARGUMENT", "FAILED_PRECONDITION", "OUT_OF_RANGE"]);

function statusOf({ code, details: { vendorCode } }: GatewayError): string {
  if (code === "invalid_request" && vendorCode !== undefined && WORDS_OF_400.has(vendorCode)) return vendorCode;
  return STATUSES[code];
}

function detailsOf(error: GatewayError): JsonObject[] {
  const { field, retryAfterSeconds } = error.details;
  const details: JsonObject[] = [];
  if (field !== undefined) {
    const fieldViolations = [{ field, description: error.message }];
    details.push({ "@type": `${TYPE}BadRequest`, fieldViolations });
  }
  if (retryAfterSeconds !== undefined) {
    details.push({ "@type": `${TYPE}RetryInfo`, retryDelay: `${retryAfterSeconds}s` });
  }
  return details;
}

/** The one frame by which a stream of this form fails; clients throw when its code is a number from 400 to 599. */
export function failureFrame(error: GatewayError): Frame {
  return { event: null, data: JSON.stringify(writeError(error)) };
}

/**
 * Digests an error body, also the list form of streams without SSE, and bodies that are only text. The code is the
 * reason in `ErrorInfo` (`API_KEY_INVALID`), else the status; a prompt beyond the model's window is
 * `context_length_exceeded`, for which this form has no word.
 */
export function readError(body: unknown): VendorError {
  if (typeof body === "string") return readText(body);
  const error = errorIn(Array.isArray(body) ? body[0] : body);
  if (error === null) return { message: "", code: null, field: null, retryAfterSeconds: null };
  const message = textOrNull(error.message) ?? "";
  const nested = message.startsWith("{") ? errorIn(parsedOrNull(message)) : null;
  if (nested !== null && textOrNull(nested.message) !== null) return readError({ error: { ...error, ...nested } });
  const details = objectsIn(error.details);
  const violation = objectsIn(details.find((detail) => Array.isArray(detail.fieldViolations))?.fieldViolations)[0];
  return {
    message,
    code: saysTooLong(message) ? "context_length_exceeded" : codeOf(error, details),
    field: textOrNull(violation?.field),
    retryAfterSeconds: retryAfterOf(details),
  };
}

function readText(text: string): VendorError {
  const json = parsedOrNull(text.trim());
  if (isObject(json) || Array.isArray(json)) return readError(json);
  const message = text.includes("<") ? "" : text.trim().slice(0, MESSAGE_MAX);
  return { message, code: null, field: null, retryAfterSeconds: null };
}

function errorIn(body: unknown): JsonObject | null {
  if (!isObject(body)) return null;
  if (isObject(body.error)) return body.error;
  return textOrNull(body.error) === null ? null : { message: body.error };
}

function saysTooLong(message: string): boolean {
  return /input token count.*exceeds the maximum number of tokens/i.test(message);
}

function codeOf(error: JsonObject, details: readonly JsonObject[]): string | null {
  for (const detail of details) {
    const reason = textOrNull(detail.reason);
    if (reason !== null) return reason;
  }
  return textOrNull(error.status) ?? (numberOrNull(error.code) === null ? textOrNull(error.code) : null);
}

/** `"34.4s"` as 35. */
function retryAfterOf(details: readonly JsonObject[]): number | null {
  for (const detail of details) {
    const seconds = /^(\d+(?:\.\d+)?)s$/.exec(textOrNull(detail.retryDelay) ?? "")?.[1];
    if (seconds !== undefined) return Math.ceil(Number(seconds));
  }
  return null;
}
