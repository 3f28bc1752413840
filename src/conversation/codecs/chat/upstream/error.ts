import type { VendorError } from "../../../upstream_format.ts";
import type { JsonObject } from "../../../../lib/json_object.ts";
import type { ReplyEvent } from "../../../events.ts";
import { listOf, numberOrNull, objectOf, textOf } from "../../../wire_value.ts";

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
  const status = numberOrNull(error?.status_code) ?? numberOrNull(error?.code) ?? numberOrNull(error?.status);
  return {
    type: "error",
    message: message || "the vendor reported a failure without a message",
    vendorCode: code,
    status: status !== null && status >= 400 && status < 600 ? status : null,
  };
}
