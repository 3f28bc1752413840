import type { VendorError } from "../../../contract/upstream_format.ts";
import type { JsonObject } from "../../../../platform/lib/json/json_object.ts";
import type { ReplyEvent } from "../../../neutral/events.ts";
import { listOf, numberOrNull, objectOf, textOf } from "../../../neutral/wire_value.ts";

/** Reads a vendor's error body. Vendors nest it, wrap it in a list, or send `message` or `detail` at the top level. */
export function readError(body: unknown): VendorError {
  const outer = objectOf(listOf(body)[0] ?? body);
  const error = objectOf(outer?.error) ?? objectOf(listOf(outer?.errors)[0]) ?? outer;
  const message = textOf(outer?.error) || textOf(error?.message) || detailText(error?.message) ||
    detailText(error) || textOf(outer?.message);
  return {
    message,
    code: codeOf(error?.code) ?? codeOf(error?.type) ?? codeOf(error?.status),
    field: textOf(error?.param) || null,
    retryAfterSeconds: retryDelayOf(error),
  };
}

/** Reads `detail` of web frameworks: a string, or a list of `{loc, msg}`. */
function detailText(value: unknown): string {
  const detail = objectOf(value)?.detail;
  return textOf(detail) || textOf(objectOf(listOf(detail)[0])?.msg);
}

/** An error code as a string; null for digits, which repeat the status. */
function codeOf(value: unknown): string | null {
  return typeof value === "string" && value !== "" && !/^\d+$/.test(value) ? value : null;
}

function retryDelayOf(error: JsonObject | null): number | null {
  for (const detail of listOf(error?.details)) {
    const seconds = /^(\d+(?:\.\d+)?)s$/.exec(textOf(objectOf(detail)?.retryDelay))?.[1];
    if (seconds !== undefined) return Math.ceil(Number(seconds));
  }
  return null;
}

/** The event of a failure that a vendor reports in its stream or in a choice. */
export function errorEventOf(body: unknown): Extract<ReplyEvent, { type: "error" }> {
  const base = baseFailureIn(objectOf(body));
  if (base !== null) return base;
  const { message, code } = readError(body);
  const error = objectOf(objectOf(body)?.error);
  const status = statusIn(error?.status_code) ?? statusIn(error?.code) ?? statusIn(error?.status);
  return {
    type: "error",
    message: message || "The provider reported a failure without a message",
    vendorCode: code,
    status,
  };
}

/**
 * The failure in the `base_resp` of a reply without choices: MiniMax has an HTTP status of 200 for most failures. Null
 * for the code 0, which means success. Source: MiniMax API reference, "Error codes".
 */
export function baseFailureIn(body: JsonObject | null): Extract<ReplyEvent, { type: "error" }> | null {
  if (body?.base_resp === undefined || listOf(body.choices).length > 0) return null;
  const base = objectOf(body.base_resp);
  const code = base === null ? "0" : String(base.status_code ?? "0");
  if (base === null || code === "0") return null;
  const message = textOf(base.status_msg) || "The provider reported a failure without a message";
  return { type: "error", message, vendorCode: code, status: BASE_STATUSES.get(code) ?? null };
}

/** HTTP statuses of MiniMax's codes. An account without a balance is unavailable, as any other failure is. */
const BASE_STATUSES: ReadonlyMap<string, number> = new Map([
  ["1001", 504],
  ["1002", 429],
  ["1004", 401],
  ["1026", 400],
  ["1027", 400],
  ["1039", 429],
  ["1041", 429],
  ["1042", 400],
  ["2013", 400],
  ["2049", 401],
  ["2056", 429],
]);

/** The status of an HTTP error, which some vendors write as text; null for any other value. */
function statusIn(value: unknown): number | null {
  const status = typeof value === "string" && /^\d{3}$/.test(value) ? Number(value) : numberOrNull(value);
  return status !== null && status >= 400 && status < 600 ? status : null;
}
