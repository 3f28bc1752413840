import type { VendorError } from "../../../conversation/contract/upstream_format.ts";
import { isObject } from "../../../conversation/neutral/wire_value.ts";
import { ERROR_TEXTS } from "./error_texts.ts";

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
  if (reasonsIn(Array.isArray(body) ? body[0] : body).some((reason) => KEY_REASON.test(reason))) return true;
  const text = status === 400 ? ERROR_TEXTS.xaiUnknownKey : ERROR_TEXTS.badKey;
  return text.test(error.message);
}

function reasonsIn(body: unknown): string[] {
  if (!isObject(body) || !isObject(body.error) || !Array.isArray(body.error.details)) return [];
  const reasons = body.error.details.map((detail) => isObject(detail) ? detail.reason : undefined);
  return reasons.filter((reason) => typeof reason === "string");
}
