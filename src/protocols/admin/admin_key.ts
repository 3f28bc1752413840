import { createHash } from "node:crypto";
import { timingSafeEqual } from "@std/crypto/timing-safe-equal";
import type { Handler } from "../../http/inbound.ts";
import { GatewayError } from "../../lib/gateway_error.ts";

/** What the operator's own requests count as in the memory budget; no account can have this id. */
const OPERATOR = "(operator)";
const BEARER = /^bearer +(\S+) *$/i;

/**
 * Guards handlers by the operator's own key, which is no caller's key. Both keys are hashed before they are compared,
 * so that the comparison takes the same time whatever was sent.
 *
 * @param adminKey Not empty: without a key there is no administration, and its routes are left out.
 * @returns The handler that answers as the given one does, and refuses with 401 whoever has not the key.
 */
export function adminGuard(adminKey: string): (handler: Handler) => Handler {
  const expected = hashOf(adminKey);
  return (handler) => (inbound) => {
    const sent = BEARER.exec(inbound.request.headers.get("authorization") ?? "")?.[1];
    if (sent === undefined) {
      throw new GatewayError("unauthorized", 'Cannot authenticate: expected "Authorization: Bearer" and the admin key');
    }
    if (!timingSafeEqual(hashOf(sent), expected)) {
      throw new GatewayError("invalid_api_key", "Cannot accept the admin key: it is not the right one");
    }
    inbound.memory.assignTo(OPERATOR);
    return handler(inbound);
  };
}

function hashOf(text: string): Uint8Array {
  return createHash("sha256").update(text).digest();
}
