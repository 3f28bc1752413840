import type { ErrorCode, GatewayError } from "../lib/gateway_error.ts";
import type { JsonObject } from "../lib/json_object.ts";

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

/** A failure in the default protocol's words; a vendor's own word is the `code` where it found fault with the request. */
export function defaultErrorFields(error: GatewayError): DefaultErrorFields {
  const { vendorCode, field } = error.details;
  const code = vendorCode !== undefined && error.status < 500 ? vendorCode : error.code;
  return { message: error.message, type: TYPES[error.code], code, param: field ?? null };
}

/** The body of a failure before the first byte: `{error: {message, type, code, param}}`. Source: DESIGN "Errors". */
export function writeDefaultError(error: GatewayError): JsonObject {
  return { error: defaultErrorFields(error) };
}
