import { GatewayError } from "../../lib/basics/gateway_error.ts";
import type { HeaderReader } from "./headers.ts";

/** How long an idempotency key is valid, in milliseconds. */
export const IDEMPOTENCY_MS = 86_400_000;

/**
 * Reads `Idempotency-Key`; null if it was not sent.
 *
 * @throws {GatewayError} `invalid_request` unless it is 1 to 255 visible ASCII characters.
 */
export function readIdempotencyKey(headers: HeaderReader): string | null {
  const key = headers.get("idempotency-key");
  if (key === null || /^[\x21-\x7e]{1,255}$/.test(key)) return key;
  throw new GatewayError(
    "invalid_request",
    'Cannot read the header "Idempotency-Key": expected 1 to 255 visible ASCII characters',
    { field: "Idempotency-Key" },
  );
}

/** A 409 for a request whose key is in use by another request. */
export function keyInUse(): GatewayError {
  return new GatewayError(
    "conflict",
    "Cannot accept the request: another request with this Idempotency-Key is still running",
    {
      retryAfterSeconds: 1,
    },
  );
}

/** A 422 for a request whose key was used with another body. */
export function keyOfOtherBody(): GatewayError {
  return new GatewayError(
    "invalid_request",
    "Cannot reuse this Idempotency-Key: the first request had a different body",
    {
      status: 422,
      field: "Idempotency-Key",
    },
  );
}
