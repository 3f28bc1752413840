import { createHash } from "node:crypto";
import { timingSafeEqual } from "@std/crypto/timing-safe-equal";
import type { Handler } from "../../http/inbound.ts";
import { GatewayError } from "../../lib/gateway_error.ts";

/** The account of the operator's requests in the memory budget; no account can have this id. */
const OPERATOR = "(operator)";
const BEARER = /^bearer +(\S+) *$/i;

/**
 * Protects handlers with the operator's key, which is not an API key. Both keys are hashed before the comparison, so
 * that it takes constant time.
 *
 * @param adminKey Not empty: without a key the admin API is disabled and has no routes.
 * @returns A function that wraps a handler. Requests without the key get 401.
 */
export function adminGuard(adminKey: string): (handler: Handler) => Handler {
  const expected = hashOf(adminKey);
  return (handler) => (inbound) => {
    const sent = BEARER.exec(inbound.request.headers.get("authorization") ?? "")?.[1];
    if (sent === undefined) {
      throw new GatewayError("unauthorized", 'Cannot authenticate: expected "Authorization: Bearer" and the admin key');
    }
    if (!timingSafeEqual(hashOf(sent), expected)) {
      throw new GatewayError("invalid_api_key", "Cannot accept the admin key: it is invalid");
    }
    inbound.memory.assignTo(OPERATOR);
    return handler(inbound);
  };
}

function hashOf(text: string): Uint8Array {
  return createHash("sha256").update(text).digest();
}
