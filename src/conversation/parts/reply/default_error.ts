import type { ErrorCode, GatewayError } from "../../../platform/lib/basics/gateway_error.ts";
import type { JsonObject } from "../../../platform/lib/json/json_object.ts";
import { ownValue } from "../../../platform/lib/collections/own_value.ts";

/** The default protocol's `error.type`. Source: docs/api/errors.md#codes. */
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

/** The members of `error` in the default protocol's error body. */
export interface DefaultErrorFields {
  readonly message: string;
  readonly type: string;
  readonly code: string;
  readonly param: string | null;
}

/** A failure in the default protocol. `code` is the vendor's own code when the vendor rejected the request. */
export function defaultErrorFields(error: GatewayError): DefaultErrorFields {
  const { details: { field, provider }, code: gatewayCode } = error;
  const openaiCode = provider === undefined ? undefined : OPENAI_CODES[gatewayCode];
  const code = vendorCodeOf(error) ?? openaiCode ?? gatewayCode;
  return { message: error.message, type: TYPES[gatewayCode], code, param: field ?? null };
}

/** OpenAI's codes for kinds of failures. Source: OpenAI API reference, "Error codes". */
const OPENAI_CODES: Partial<Record<ErrorCode, string>> = { rate_limited: "rate_limit_exceeded" };

/**
 * The vendor's error code, in the spelling of the default protocol, when the vendor rejected the request. Null when the
 * vendor sent none, or one of another protocol that has no equivalent here.
 */
export function vendorCodeOf({ details: { vendorCode }, status }: GatewayError): string | null {
  if (vendorCode === undefined || status >= 500) return null;
  const equivalent = ownValue(EQUIVALENTS, vendorCode);
  if (equivalent !== undefined) return equivalent;
  return MESSAGES_ERROR_TYPES.has(vendorCode) || CONTENT_CODE.test(vendorCode) ? null : vendorCode;
}

/** Codes of the other protocols that are more specific than the status. */
const EQUIVALENTS: Readonly<Record<string, string>> = {
  SAFETY: "content_policy_violation",
  IMAGE_SAFETY: "content_policy_violation",
  PROHIBITED_CONTENT: "content_policy_violation",
  IMAGE_PROHIBITED_CONTENT: "content_policy_violation",
  BLOCKLIST: "content_policy_violation",
};

/** Error types of the message protocol that the default protocol does not have. Source: Messages API, "Errors". */
const MESSAGES_ERROR_TYPES: ReadonlySet<string> = new Set([
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

/** The content protocol's spelling of statuses and reasons. Source: google.rpc.Code, google.api.ErrorReason. */
const CONTENT_CODE = /^[A-Z][A-Z0-9]*(?:_[A-Z0-9]+)*$/;

/**
 * The body of a failure before the first byte: `{error: {message, type, code, param}}`. Source:
 * docs/api/errors.md#default-protocol.
 */
export function writeDefaultError(error: GatewayError): JsonObject {
  return { error: defaultErrorFields(error) };
}
