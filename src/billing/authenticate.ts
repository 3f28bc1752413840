import { type KeyLocation, readCredential } from "../http/credentials.ts";
import type { Inbound } from "../http/inbound.ts";
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
  return (inbound, carriers) => {
    const { request, headers = request.headers, query } = inbound;
    const found = ring.resolve(readCredential(headers, query, carriers));
    if (found instanceof Promise) return found.then((credential) => ownedBy(credential, inbound));
    return ownedBy(found, inbound);
  };
}

function ownedBy(credential: Credential, { memory, record }: Inbound): Credential {
  memory.assignTo(credential.accountId);
  record.accountId = credential.accountId;
  record.keyId = credential.keyId;
  return credential;
}
