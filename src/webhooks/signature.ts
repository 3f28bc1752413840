import { Buffer } from "node:buffer";
import { createHmac } from "node:crypto";

/** What one attempt's headers are made of. */
export interface SignedEvent {
  /** `<task id>-<status>`: the same on every attempt. */
  readonly idempotencyKey: string;
  /** The raw body. */
  readonly body: Uint8Array;
  /** Unix milliseconds of this attempt. */
  readonly sentAt: number;
}

/**
 * The headers that name and sign an event. The `x-service-…` headers are signed with the first secret, the three of
 * Standard Webhooks with every secret. Source: docs/api/webhooks.md#headers.
 *
 * @param secrets The current one first; not empty.
 * @throws {RangeError} Without a secret: nothing goes out unsigned.
 */
export function signedHeaders(
  { idempotencyKey, body, sentAt }: SignedEvent,
  secrets: readonly string[],
): Record<string, string> {
  const [first] = secrets;
  if (first === undefined) throw new RangeError("Cannot sign the event: its account has no webhook secret");
  const timestamp = Math.floor(sentAt / 1_000);
  const signatures = secrets.map((secret) => standardSignature({ id: idempotencyKey, timestamp, body }, secret));
  return {
    "x-service-idempotency-key": idempotencyKey,
    "x-service-signature": serviceSignature(body, first),
    "webhook-id": idempotencyKey,
    "webhook-timestamp": String(timestamp),
    "webhook-signature": signatures.join(" "),
  };
}

/**
 * HMAC-SHA256 of the raw body, keyed with the secret's text, in base64url without padding. Source:
 * docs/api/webhooks.md#signatures.
 */
export function serviceSignature(body: Uint8Array, secret: string): string {
  return createHmac("sha256", secret).update(body).digest("base64url");
}

/**
 * `v1,` and the HMAC-SHA256, in base64, of `<id>.<timestamp>.<body>`. Source: Standard Webhooks, "Signature scheme".
 *
 * @param message `timestamp` in Unix seconds.
 */
export function standardSignature(
  { id, timestamp, body }: { readonly id: string; readonly timestamp: number; readonly body: Uint8Array },
  secret: string,
): string {
  const hmac = createHmac("sha256", standardKeyOf(secret)).update(`${id}.${timestamp}.`).update(body);
  return `v1,${hmac.digest("base64")}`;
}

/**
 * What the standard scheme is keyed with: the bytes behind `whsec_`, or the text itself for a secret of another shape,
 * which that scheme's libraries call the format `raw`.
 */
function standardKeyOf(secret: string): Uint8Array {
  const encoded = /^whsec_([A-Za-z0-9+/]+={0,2})$/.exec(secret)?.[1] ?? "";
  const key = Buffer.from(encoded, "base64");
  return key.length > 0 && key.toString("base64") === encoded ? key : Buffer.from(secret);
}
