import { type KeyLocation, readCredential } from "../http/credentials.ts";
import type { Inbound } from "../http/inbound.ts";
import type { MemoryLease } from "../lib/memory_budget.ts";
import type { Credential, KeyRing } from "./key_ring.ts";

/**
 * Authenticates a request by its key. From then on the request's memory counts for the account, so the body must be
 * read afterwards.
 *
 * @param carriers Where the key may be. Default: the header fields that every protocol accepts.
 * @throws {GatewayError} `unauthorized` without a key, `invalid_api_key` with an invalid one.
 */
export type Authenticate = (inbound: Inbound, carriers?: readonly KeyLocation[]) => Credential | Promise<Credential>;

/** Authenticates by a key ring. */
export function createAuthenticate(ring: KeyRing): Authenticate {
  return ({ request, headers = request.headers, query, memory }, carriers) => {
    const found = ring.resolve(readCredential(headers, query, carriers));
    if (found instanceof Promise) return found.then((credential) => ownedBy(credential, memory));
    return ownedBy(found, memory);
  };
}

function ownedBy(credential: Credential, memory: MemoryLease): Credential {
  memory.assignTo(credential.accountId);
  return credential;
}
