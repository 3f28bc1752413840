import type { VendorError } from "../../../contract/upstream_format.ts";
import type { FailureReason } from "../../../../platform/lib/basics/gateway_error.ts";
import { ownValue } from "../../../../platform/lib/collections/own_value.ts";
import { isObject, listOf, textOrNull } from "../../../neutral/wire_value.ts";
import { OVERFLOW_WORDING } from "../shared/overflow_wording.ts";

/** HTTP statuses of this format's error types. Source: Messages API reference, "Errors". */
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

/** The HTTP status of an error type; null for unknown ones. */
export function statusOf(code: string | null): number | null {
  return code === null ? null : ownValue(STATUS, code) ?? null;
}

/** Reads a vendor's error body. Compatible vendors also send plain text and HTML pages. */
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

/** Reads the reason of an error. Only identifiers are read, which cannot contain secrets. */
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

/**
 * Whether blocks of thinking were refused: changed, of another model or account, or behind changed messages. Missing
 * blocks are not meant. Source: Messages API reference, "Extended thinking"; Claude Haiku 5.5 migration guide.
 */
export function refusesReasoning({ message }: Pick<VendorError, "message">): boolean {
  return /`?\b(?:redacted_)?thinking`? blocks?\b/i.test(message) &&
    !/\b(?:expected|must (?:start|begin))\b/i.test(message);
}

const MAX_PLAIN_TEXT_CHARACTERS = 1000;

function plainText(value: unknown): string {
  if (typeof value !== "string" || /^\s*</.test(value)) return "";
  return value.trim().slice(0, MAX_PLAIN_TEXT_CHARACTERS);
}
