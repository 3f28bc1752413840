import * as z from "zod";
import { chat } from "../../../conversation/codecs/chat/mod.ts";
import { ERROR_TEXTS } from "../call/error_texts.ts";
import type { FailureKind } from "../call/failure.ts";
import type { VendorRefusal } from "../call/outbound_call.ts";
import { ownValue } from "../../../platform/lib/collections/own_value.ts";

/** MiniMax's error codes, which status 200 responses contain, too. */

/** The meaning of a code, and whether the vendor may have started the work. */
export interface CodeMeaning {
  readonly kind: FailureKind;
  readonly accepted: "no" | "unknown";
  readonly isContentRefusal: boolean;
}

const meaning = (kind: FailureKind, accepted: "no" | "unknown" = "no"): CodeMeaning => ({
  kind,
  accepted,
  isContentRefusal: false,
});

const CONTENT: CodeMeaning = { kind: "invalid", accepted: "no", isContentRefusal: true };

/** Source: MiniMax API reference, "Error codes". */
const CODE_MEANINGS: Readonly<Record<string, CodeMeaning>> = {
  1001: meaning("timeout", "unknown"),
  1002: meaning("rate_limited"),
  1004: meaning("auth"),
  1008: meaning("unavailable"), // the gateway's account has no balance
  1026: CONTENT,
  1027: CONTENT,
  1039: meaning("rate_limited"),
  1041: meaning("rate_limited"),
  1042: meaning("invalid"),
  2013: meaning("invalid"),
  2049: meaning("auth"),
  2056: meaning("rate_limited"),
};

/** Returns the verdict on a code. An unknown code means a failure, perhaps after the work started. */
export function meaningOf(code: string): CodeMeaning {
  return ownValue(CODE_MEANINGS, code) ?? meaning("unavailable", "unknown");
}

/** A code, written as `1026` or as `"1026"`. */
export const errorCode: z.ZodType<string | null> = z.union([z.string(), z.number().transform(String)]).nullish()
  .transform((code) => code ?? null).catch(null);

const ErrorBody = z.object({
  error: z.object({ code: errorCode, type: z.string().nullish(), message: z.string().nullish() }).nullish(),
  base_resp: z.object({ status_code: errorCode, status_msg: z.string().nullish() }).nullish(),
});

/**
 * Reads an error body. The newer format is that of the default protocol, sometimes with the code of the older format.
 * Either may be absent.
 */
export function readRefusal(body: unknown): VendorRefusal {
  const error = chat.upstream.readError(body);
  const details = ErrorBody.safeParse(body).data;
  const code = details?.error?.code ?? details?.base_resp?.status_code ?? null;
  const message = error.message || details?.base_resp?.status_msg || "";
  const codeMeaning = code === null ? undefined : ownValue(CODE_MEANINGS, code);
  const isContentRefusal = codeMeaning?.isContentRefusal ?? ERROR_TEXTS.minimaxContentRefusal.test(message);
  return {
    ...error,
    message,
    code: code ?? error.code,
    kind: isContentRefusal ? "invalid" : codeMeaning?.kind,
    isContentRefusal,
  };
}
