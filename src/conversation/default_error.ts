import type { ErrorCode, GatewayError } from "../lib/gateway_error.ts";
import type { JsonObject } from "../lib/json_object.ts";
import { ownValue } from "../lib/own_value.ts";

/** The default protocol's `error.type`. Source: DESIGN "Errors". */
const TYPES: Readonly<Record<ErrorCode, string>> = {
  invalid_request: "invalid_request_error",
  invalid_provider_type: "invalid_provider_type",
  provider_type_unavailable: "provider_type_unavailable",
  unauthorized: "authentication_error",
  invalid_api_key: "authentication_error",
  upstream_auth_failed: "upstream_auth_failed",
  insufficient_credits: "insufficient_credits",
  permission_denied: "permission_error",
  not_found: "not_found_error",
  model_not_found: "not_found_error",
  method_not_allowed: "invalid_request_error",
  conflict: "invalid_request_error",
  request_too_large: "invalid_request_error",
  rate_limited: "rate_limit_error",
  overloaded: "overloaded_error",
  storage_unavailable: "api_error",
  upstream_error: "upstream_error",
  route_error: "upstream_error",
  upstream_timeout: "upstream_error",
  internal_error: "api_error",
};

/** The inside of the default protocol's error body. */
export interface DefaultErrorFields {
  readonly message: string;
  readonly type: string;
  readonly code: string;
  readonly param: string | null;
}

/** A failure in the default protocol's words; the vendor's is the `code` where it found fault with the request. */
export function defaultErrorFields(error: GatewayError): DefaultErrorFields {
  const { details: { field, provider }, code } = error;
  const word = vendorWordOf(error) ?? (provider === undefined ? undefined : VENDORS_WORDS[code]) ?? code;
  return { message: error.message, type: TYPES[code], code: word, param: field ?? null };
}

/** What this protocol's own vendor calls a failure of the kind. Source: OpenAI API reference, "Error codes". */
const VENDORS_WORDS: Partial<Record<ErrorCode, string>> = { rate_limited: "rate_limit_exceeded" };

/**
 * The vendor's machine word as clients of this protocol know it, where the vendor found fault with the request; null
 * where it gave none, or one of another protocol's that has no counterpart here.
 */
export function vendorWordOf({ details: { vendorCode }, status }: GatewayError): string | null {
  if (vendorCode === undefined || status >= 500) return null;
  const counterpart = ownValue(COUNTERPARTS, vendorCode);
  if (counterpart !== undefined) return counterpart;
  return MESSAGE_WORDS.has(vendorCode) || CONTENT_WORD.test(vendorCode) ? null : vendorCode;
}

/** Words of the other protocols that say more than the status does. */
const COUNTERPARTS: Readonly<Record<string, string>> = {
  SAFETY: "content_policy_violation",
  IMAGE_SAFETY: "content_policy_violation",
  PROHIBITED_CONTENT: "content_policy_violation",
  IMAGE_PROHIBITED_CONTENT: "content_policy_violation",
  BLOCKLIST: "content_policy_violation",
};

/** The message protocol's types that are none of this protocol's. Source: Messages API reference, "Errors". */
const MESSAGE_WORDS: ReadonlySet<string> = new Set([
  "authentication_error",
  "billing_error",
  "permission_error",
  "forbidden",
  "not_found_error",
  "conflict_error",
  "request_too_large",
  "rate_limit_error",
  "api_error",
  "timeout_error",
  "overloaded_error",
]);

/** How the content protocol spells statuses, reasons and ends. Source: google.rpc.Code, google.api.ErrorReason. */
const CONTENT_WORD = /^[A-Z][A-Z0-9]*(?:_[A-Z0-9]+)*$/;

/** The body of a failure before the first byte: `{error: {message, type, code, param}}`. Source: DESIGN "Errors". */
export function writeDefaultError(error: GatewayError): JsonObject {
  return { error: defaultErrorFields(error) };
}
