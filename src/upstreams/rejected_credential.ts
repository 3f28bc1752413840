import * as z from "zod";
import type { VendorError } from "../conversation/upstream_format.ts";
import { ERROR_TEXTS } from "./error_texts.ts";

const Details = z.object({
  error: z.object({ details: z.array(z.object({ reason: z.string().optional().catch(undefined) }).catch({})) }),
});

/** Google's error reasons for an invalid key or project. Source: google.api.ErrorReason. */
const KEY_REASON = /^(?:API_KEY_|CREDENTIALS_MISSING$|ACCESS_TOKEN_|ACCOUNT_STATE_INVALID$|CONSUMER_SUSPENDED$)/;

/**
 * Whether a 400 or 403 is caused by the API key of the request. A message may repeat the caller's input. It therefore
 * only decides the error for the caller and when the credential is probed, never that the credential is invalid.
 *
 * @param body The parsed error body.
 * @param error The neutral form of the error body.
 */
export function isCredentialRejected(status: number, body: unknown, error: VendorError): boolean {
  if (status !== 400 && status !== 403) return false;
  const details = Details.safeParse(Array.isArray(body) ? body[0] : body).data?.error.details ?? [];
  if (details.some(({ reason }) => reason !== undefined && KEY_REASON.test(reason))) return true;
  const text = status === 400 ? ERROR_TEXTS.xaiUnknownKey : ERROR_TEXTS.badKey;
  return text.test(error.message);
}
