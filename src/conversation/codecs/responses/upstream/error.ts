import type { VendorError } from "../../../contract/upstream_format.ts";
import type { JsonObject } from "../../../../platform/lib/json/json_object.ts";
import { defaultErrorFields, vendorCodeOf } from "../../../parts/reply/default_error.ts";
import type { ErrorCode, GatewayError } from "../../../../platform/lib/basics/gateway_error.ts";
import { isAbsent, isObject, textOf, textOrNull } from "../../../neutral/wire_value.ts";

/** Values of `response.error.code` that clients handle; all others become `server_error`. */
const RESPONSE_ERROR_CODES: Partial<Record<ErrorCode, string>> = {
  rate_limited: "rate_limit_exceeded",
  insufficient_credits: "insufficient_quota",
  invalid_request: "invalid_prompt",
};

/** The `error` of a failed response object. Source: Responses API reference, "ResponseError". */
export function responseErrorOf(error: GatewayError): JsonObject {
  const { message, type } = defaultErrorFields(error);
  const errorCode = vendorCodeOf(error) ?? RESPONSE_ERROR_CODES[error.code];
  return { code: errorCode ?? "server_error", message, type };
}

const MAX_MESSAGE_CHARACTERS = 2000;

/**
 * Reads a vendor's error body: `{error: {message, type, code, param}}` and its dialects (`error` as a string, the
 * fields at the top, a list of one, a failed response object). Anything else has no message.
 */
export function readError(body: unknown): VendorError {
  const outer = Array.isArray(body) ? body[0] : body;
  const inner = isObject(outer) && !isAbsent(outer.error) ? outer.error : outer;
  if (typeof inner === "string") return vendorError(inner, null, null);
  if (!isObject(inner)) return vendorError("", null, null);
  const message = textOf(inner.message) || textOf(inner.detail) || textOf(inner.msg);
  const code = typeof inner.code === "number" ? String(inner.code) : textOrNull(inner.code);
  const type = inner.type === "error" ? null : textOrNull(inner.type);
  return vendorError(message, code ?? type, textOrNull(inner.param));
}

function vendorError(text: string, code: string | null, field: string | null): VendorError {
  const message = text.trimStart().startsWith("<") ? "" : text.slice(0, MAX_MESSAGE_CHARACTERS);
  return { message, code, field, retryAfterSeconds: retryAfterOf(message) };
}

/** Whether encrypted reasoning of another organization was refused. Source: OpenAI guide "Reasoning models". */
export function refusesReasoning({ code }: Pick<VendorError, "code">): boolean {
  return code === "invalid_encrypted_content";
}

const SECONDS_PER = { ms: 0.001, s: 1, m: 60 } as const;

/** The delay before a retry, which rate limits state only in the message: `Please try again in 1.5s`. */
function retryAfterOf(message: string): number | null {
  const [, amount, unit] = /try again in (\d+(?:\.\d+)?) ?(ms|s|m)/i.exec(message) ?? [];
  if (amount === undefined || unit === undefined) return null;
  return Math.ceil(Number(amount) * SECONDS_PER[unit.toLowerCase() as keyof typeof SECONDS_PER]);
}
