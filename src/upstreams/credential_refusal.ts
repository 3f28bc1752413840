import * as z from "zod";
import type { VendorError } from "../conversation/upstream_format.ts";
import { ERROR_TEXTS } from "./error_texts.ts";

const Details = z.object({
  error: z.object({ details: z.array(z.object({ reason: z.string().optional().catch(undefined) }).catch({})) }),
});

/** Reasons of Google's that blame the key or its project. Source: google.api.ErrorReason. */
const KEY_REASON = /^(?:API_KEY_|CREDENTIALS_MISSING$|ACCESS_TOKEN_|ACCOUNT_STATE_INVALID$|CONSUMER_SUSPENDED$)/;

/**
 * Whether a 400 or 403 blames the key it was sent with. The words of a message may repeat what a caller sent, so they
 * only decide what the caller is told and when the credential is probed, never that it is bad.
 *
 * @param body The parsed error body.
 * @param said What the body says in neutral words.
 */
export function blamesCredential(status: number, body: unknown, said: VendorError): boolean {
  if (status !== 400 && status !== 403) return false;
  const details = Details.safeParse(Array.isArray(body) ? body[0] : body).data?.error.details ?? [];
  if (details.some(({ reason }) => reason !== undefined && KEY_REASON.test(reason))) return true;
  const text = status === 400 ? ERROR_TEXTS.xaiUnknownKey : ERROR_TEXTS.badKey;
  return text.test(said.message);
}
