import { chat } from "../../../conversation/codecs/chat/mod.ts";
import { ERROR_TEXTS } from "../call/error_texts.ts";
import type { VendorRefusal } from "../call/outbound_call.ts";

/** Reads an error body of both APIs: `{detail}` with a text, or a list of `{loc, msg}`. */
export function readLumaError(body: unknown): VendorRefusal {
  const error = chat.upstream.readError(body);
  return { ...error, isContentRefusal: isLumaRefusal(error.message) ? true : undefined };
}

/** Whether a message names the vendor's content rules. */
export function isLumaRefusal(message: string | null | undefined): boolean {
  return ERROR_TEXTS.lumaContentRefusal.test(message ?? "");
}
