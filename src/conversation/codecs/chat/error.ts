import { GatewayError } from "../../../lib/gateway_error.ts";
import type { ErrorCode } from "../../../lib/gateway_error.ts";
import type { JsonObject, VendorError } from "../../codec.ts";
import type { ReplyEvent } from "../../events.ts";
import { listOf, numberOf, objectOf, textOf } from "./fields.ts";

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
  upstream_error: "upstream_error",
  route_error: "upstream_error",
  upstream_timeout: "upstream_error",
  internal_error: "api_error",
};

/** `{error: {message, type, code, param}}`; a vendor's own word stands as `code` where it found fault with the request. */
export function writeError(error: GatewayError): JsonObject {
  const { vendorCode, field } = error.details;
  const code = vendorCode !== undefined && error.status < 500 ? vendorCode : error.code;
  return { error: { message: error.message, type: TYPES[error.code], code, param: field ?? null } };
}

/** What a vendor's error body says. Vendors nest it, list it, or send `message` or `detail` bare. */
export function readError(body: unknown): VendorError {
  const outer = objectOf(listOf(body)[0] ?? body);
  const error = objectOf(outer?.error) ?? objectOf(listOf(outer?.errors)[0]) ?? outer;
  const message = textOf(outer?.error) || textOf(error?.message) || detailText(error?.message) ||
    detailText(error) || textOf(outer?.message);
  return {
    message,
    code: wordOf(error?.code) ?? wordOf(error?.type) ?? wordOf(error?.status),
    field: textOf(error?.param) || null,
    retryAfterSeconds: retryDelayOf(error),
  };
}

/** `detail` as web frameworks send it: text, or a list of `{loc, msg}`. */
function detailText(value: unknown): string {
  const detail = objectOf(value)?.detail;
  return textOf(detail) || textOf(objectOf(listOf(detail)[0])?.msg);
}

/** A word to branch on; numbers there only repeat the status. */
function wordOf(value: unknown): string | null {
  return typeof value === "string" && value !== "" && !/^\d+$/.test(value) ? value : null;
}

function retryDelayOf(error: JsonObject | null): number | null {
  for (const detail of listOf(error?.details)) {
    const seconds = /^(\d+(?:\.\d+)?)s$/.exec(textOf(objectOf(detail)?.retryDelay))?.[1];
    if (seconds !== undefined) return Math.ceil(Number(seconds));
  }
  return null;
}

/** A failure that a vendor reports inside its stream, or inside a choice. */
export function errorEventOf(body: unknown): Extract<ReplyEvent, { type: "error" }> {
  const { message, code } = readError(body);
  const error = objectOf(objectOf(body)?.error);
  const status = numberOf(error?.status_code) ?? numberOf(error?.code) ?? numberOf(error?.status);
  return {
    type: "error",
    message: message || "the vendor reported a failure without a message",
    vendorCode: code,
    status: status !== null && status >= 400 && status < 600 ? status : null,
  };
}

/** The same as the caller is told it. */
export function gatewayErrorOfEvent(event: Extract<ReplyEvent, { type: "error" }>): GatewayError {
  const { message, vendorCode, status } = event;
  const details = { ...(vendorCode !== null && { vendorCode }), ...(status !== null && { status }) };
  if (status === 429) return new GatewayError("rate_limited", message, details);
  if (status !== null && status < 500 && status !== 401 && status !== 403) {
    return new GatewayError("invalid_request", message, details);
  }
  return new GatewayError("upstream_error", message, vendorCode === null ? {} : { vendorCode });
}
