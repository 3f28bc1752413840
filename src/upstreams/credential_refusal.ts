import * as z from "zod";
import type { VendorError } from "../conversation/upstream_format.ts";

const Details = z.object({
  error: z.object({ details: z.array(z.object({ reason: z.string().optional().catch(undefined) }).catch({})) }),
});

/** Reasons of Google's that blame the key or its project. Source: google.api.ErrorReason. */
const KEY_REASON = /^(?:API_KEY_|CREDENTIALS_MISSING$|ACCESS_TOKEN_|ACCOUNT_STATE_INVALID$|CONSUMER_SUSPENDED$)/;

/**
 * "Your API key was reported as leaked", "Invalid API key", "Not authenticated"; not "Your API key does not have
 * permission to …".
 */
const BAD_KEY_WORDS = new RegExp(
  "^not authenticated\\b|\\b(?:invalid|incorrect|expired|revoked) (?:api[ _-]?key|credential|token)" +
    "|\\b(?:api[ _-]?key|credential|token)s? (?:is|was|has been|have been|are) " +
    "(?:reported as leaked|leaked|invalid|not valid|expired|revoked|disabled|deactivated|suspended|blocked)",
  "i",
);

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
  // xAI answers an unknown key with 400 (xAI documentation, "Debugging errors").
  if (status === 400) return said.message.startsWith("Incorrect API key provided");
  return BAD_KEY_WORDS.test(said.message);
}
