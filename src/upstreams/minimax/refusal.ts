import * as z from "zod";
import { chat } from "../../conversation/codecs/chat/mod.ts";
import { ERROR_TEXTS } from "../error_texts.ts";
import type { FailureKind } from "../failure.ts";
import type { VendorRefusal } from "../outbound_call.ts";

/** MiniMax's error codes, which status 200 responses contain, too. */

/** The meaning of a code, and whether the vendor may have started the work. */
export interface CodeMeaning {
  readonly kind: FailureKind;
  readonly accepted: "no" | "unknown";
  readonly isContentRefusal: boolean;
}

const plain = (kind: FailureKind, accepted: "no" | "unknown" = "no"): CodeMeaning => ({
  kind,
  accepted,
  isContentRefusal: false,
});

const CONTENT: CodeMeaning = { kind: "invalid", accepted: "no", isContentRefusal: true };

/** Source: MiniMax API reference, "Error codes". */
const CODE_MEANINGS: Readonly<Record<string, CodeMeaning>> = {
  1001: plain("timeout", "unknown"),
  1002: plain("rate_limited"),
  1004: plain("auth"),
  1008: plain("unavailable"), // the gateway's account has no balance
  1026: CONTENT,
  1027: CONTENT,
  1039: plain("rate_limited"),
  1041: plain("rate_limited"),
  1042: plain("invalid"),
  2013: plain("invalid"),
  2049: plain("auth"),
  2056: plain("rate_limited"),
};

/** Returns the verdict on a code. An unknown code means a failure, perhaps after the work started. */
export function meaningOf(code: string): CodeMeaning {
  return CODE_MEANINGS[code] ?? plain("unavailable", "unknown");
}

/** A code, written as `1026` or as `"1026"`. */
export const errorCode: z.ZodType<string | null> = z.union([z.string(), z.number().transform(String)]).nullish()
  .transform((code) => code ?? null).catch(null);

const Inside = z.object({
  error: z.object({ code: errorCode, type: z.string().nullish(), message: z.string().nullish() }).nullish(),
  base_resp: z.object({ status_code: errorCode, status_msg: z.string().nullish() }).nullish(),
});

/**
 * Reads an error body. The newer format is that of the default protocol, sometimes with the code of the older format.
 * Either may be absent.
 */
export function readRefusal(body: unknown): VendorRefusal {
  const said = chat.upstream.readError(body);
  const inside = Inside.safeParse(body).data;
  const code = inside?.error?.code ?? inside?.base_resp?.status_code ?? null;
  const message = said.message || inside?.base_resp?.status_msg || "";
  const known = code === null ? undefined : CODE_MEANINGS[code];
  const isContentRefusal = known?.isContentRefusal ?? ERROR_TEXTS.minimaxContentRefusal.test(message);
  return {
    ...said,
    message,
    code: code ?? said.code,
    kind: isContentRefusal ? "invalid" : known?.kind,
    isContentRefusal,
  };
}
