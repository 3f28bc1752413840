import { type Carrier, readCredential } from "../http/credentials.ts";
import type { Inbound } from "../http/inbound.ts";
import type { Credential, KeyRing } from "./key_ring.ts";

/**
 * Finds out whose request it is, by the key that it carries.
 *
 * @param carriers Where the key may stand; the header fields that every protocol accepts when left out.
 * @throws {GatewayError} `unauthorized` without a key, `invalid_api_key` with one that is not good.
 */
export type Authenticate = (inbound: Inbound, carriers?: readonly Carrier[]) => Credential | Promise<Credential>;

/** Authentication by a key ring. */
export function createAuthenticate(ring: KeyRing): Authenticate {
  return ({ request, query }, carriers) => ring.resolve(readCredential(request.headers, query, carriers));
}
