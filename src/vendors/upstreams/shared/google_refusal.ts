import { content } from "../../../conversation/codecs/content/mod.ts";
import { ERROR_TEXTS } from "../call/error_texts.ts";
import type { VendorRefusal } from "../call/outbound_call.ts";

/** Reads an error body of Google's video APIs. */
export function readGoogleRefusal(body: unknown): VendorRefusal {
  const error = content.upstream.readError(body);
  return isGoogleRefusal(error.code, error.message) ? { ...error, kind: "invalid", isContentRefusal: true } : error;
}

/** The error codes of the vendor's content rules. */
const CONTENT_RULES = /SAFETY|PROHIBITED_CONTENT/;

/** Whether the error means that the vendor's content rules forbid the request or its result. */
export function isGoogleRefusal(
  code: string | number | null | undefined,
  message: string | null | undefined,
): boolean {
  return CONTENT_RULES.test(String(code ?? "")) || ERROR_TEXTS.googleContentRefusal.test(message ?? "");
}
