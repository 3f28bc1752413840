import { Buffer } from "node:buffer";
import { createHash, randomBytes } from "node:crypto";
import { timingSafeEqual } from "@std/crypto/timing-safe-equal";
import { type Credential, readCredential } from "../../money/billing/keys/key_ring.ts";
import type { Store } from "../../platform/store/store.ts";
import { readUpload } from "./records.ts";

/** As many as no one guesses. */
const TOKEN_BYTES = 24;

/** A token for the address of an upload, and what its record has of it. */
export function newUploadToken(): { readonly token: string; readonly tokenHash: string } {
  const token = randomBytes(TOKEN_BYTES).toString("base64url");
  return { token, tokenHash: hashOf(token).toString("hex") };
}

/**
 * The key that opened an upload, for a request that has the token of its address; null for another token or upload.
 *
 * @throws {GatewayError} `invalid_api_key` if the key may not be used any more.
 */
export async function readUploadOwner(store: Store, id: string, token: string): Promise<Credential | null> {
  const upload = (await readUpload(store, id))?.value;
  if (upload?.tokenHash === undefined) return null;
  if (!timingSafeEqual(hashOf(token), Buffer.from(upload.tokenHash, "hex"))) return null;
  return await readCredential(store, { account: upload.account, id: upload.keyId });
}

function hashOf(token: string) {
  return createHash("sha256").update(token).digest();
}
