import type { Frame } from "../../../../platform/lib/streams/frame.ts";
import type { JsonObject } from "../../../../platform/lib/json/json_object.ts";
import type { ErrorCode, GatewayError } from "../../../../platform/lib/basics/gateway_error.ts";

/** Source: docs/api/errors.md#codes. */
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

/**
 * `{error: {code, message, status}}`, with `details` of the vendor's own kinds where there is more to say: the field at
 * fault (BadRequest), the limit of the key or account (QuotaFailure), seconds until a retry (RetryInfo). Errors of
 * provider routing also have `type`. Source: docs/api/errors.md#content-protocol; google.rpc error model.
 */
export function writeError(error: GatewayError): JsonObject {
  const { code } = error;
  const body: JsonObject = { code: error.status, message: error.message, status: statusOf(error) };
  if (code === "invalid_provider_type" || code === "provider_type_unavailable") body.type = code;
  const details = detailsOf(error);
  if (details.length > 0) body.details = details;
  return { error: body };
}

/** Statuses for a 400. A vendor of this format may be more specific than `INVALID_ARGUMENT`. */
const BAD_REQUEST_STATUSES: ReadonlySet<string> = new Set(["INVALID_ARGUMENT", "FAILED_PRECONDITION", "OUT_OF_RANGE"]);

function statusOf({ code, details: { vendorCode } }: GatewayError): string {
  if (code === "invalid_request" && vendorCode !== undefined && BAD_REQUEST_STATUSES.has(vendorCode)) return vendorCode;
  return STATUSES[code];
}

function detailsOf(error: GatewayError): JsonObject[] {
  const { field, retryAfterSeconds, quota } = error.details;
  const details: JsonObject[] = [];
  if (field !== undefined) {
    const fieldViolations = [{ field, description: error.message }];
    details.push({ "@type": `${TYPE}BadRequest`, fieldViolations });
  }
  if (quota !== undefined) {
    const { holder, limit, value } = quota;
    const isNumber = limit !== "budget";
    const violation = { subject: holder, description: error.message, quotaId: limit };
    const violations = [isNumber ? { ...violation, quotaValue: value } : violation];
    details.push({ "@type": `${TYPE}QuotaFailure`, violations });
  }
  if (retryAfterSeconds !== undefined) {
    details.push({ "@type": `${TYPE}RetryInfo`, retryDelay: `${retryAfterSeconds}s` });
  }
  return details;
}

/** The frame that reports a failure in a stream. Clients throw when its code is a number from 400 to 599. */
export function failureFrame(error: GatewayError): Frame {
  return { event: null, data: JSON.stringify(writeError(error)) };
}
