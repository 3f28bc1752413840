import { Buffer } from "node:buffer";
import { createHmac } from "node:crypto";

/** The values that the headers of an attempt depend on. */
export interface SignedEvent {
  /** `<task id>-<status>`: the same on every attempt. */
  readonly idempotencyKey: string;
  /** The raw body. */
  readonly body: Uint8Array;
  /** Time of this attempt in Unix milliseconds. */
  readonly sentAt: number;
}

/**
 * Returns the headers that identify and sign an event. The `x-service-…` headers use the first secret, the three
 * headers of Standard Webhooks every secret. Source: docs/api/webhooks.md#headers.
 *
 * @param secrets The current one first; not empty.
 * @throws {RangeError} If there is no secret: no event is sent unsigned.
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
 * Returns the HMAC-SHA256 of the raw body, keyed with the secret's text, in base64url without padding. Source:
 * docs/api/webhooks.md#signatures.
 */
export function serviceSignature(body: Uint8Array, secret: string): string {
  return createHmac("sha256", secret).update(body).digest("base64url");
}

/**
 * Returns `v1,` and the base64 HMAC-SHA256 of `<id>.<timestamp>.<body>`. Source: Standard Webhooks, "Signature scheme".
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
 * Returns the key of the standard scheme: the bytes after `whsec_`. A secret of another shape is used as text, which
 * the scheme's libraries call the format `raw`.
 */
function standardKeyOf(secret: string): Uint8Array {
  const encoded = /^whsec_([A-Za-z0-9+/]+={0,2})$/.exec(secret)?.[1] ?? "";
  const key = Buffer.from(encoded, "base64");
  return key.length > 0 && key.toString("base64") === encoded ? key : Buffer.from(secret);
}
