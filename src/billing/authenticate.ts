import { type Carrier, readCredential } from "../http/credentials.ts";
import type { Inbound } from "../http/inbound.ts";
import type { MemoryLease } from "../lib/memory_budget.ts";
import type { Credential, KeyRing } from "./key_ring.ts";

/**
 * Finds out whose request it is, by the key that it carries. From then on the request's memory counts for the account,
 * so a body is read after this.
 *
 * @param carriers Where the key may stand; the header fields that every protocol accepts when left out.
 * @throws {GatewayError} `unauthorized` without a key, `invalid_api_key` with one that is not good.
 */
export type Authenticate = (inbound: Inbound, carriers?: readonly Carrier[]) => Credential | Promise<Credential>;

/** Authentication by a key ring. */
export function createAuthenticate(ring: KeyRing): Authenticate {
  return ({ request, query, memory }, carriers) => {
    const found = ring.resolve(readCredential(request.headers, query, carriers));
    if (found instanceof Promise) return found.then((credential) => ownedBy(credential, memory));
    return ownedBy(found, memory);
  };
}

function ownedBy(credential: Credential, memory: MemoryLease): Credential {
  memory.assignTo(credential.accountId);
  return credential;
}
