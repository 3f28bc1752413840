import { createHmac } from "node:crypto";
import { timingSafeEqual } from "@std/crypto/timing-safe-equal";

/** A key that addresses are signed with. */
export interface SigningKey {
  /** Part of what is signed. */
  readonly id: string;
  readonly secret: Uint8Array;
}

/** The keys in force, the newest first: that one signs, all verify. */
export type SigningKeys = readonly SigningKey[];

/**
 * The longest life of an address, which is also the limit of presigned S3 addresses. Source:
 * docs/api/files.md#signatures.
 */
const MAX_SIGNED_URL_MS = 7 * 86_400_000;

const VERSION = "1";

/**
 * The address at which anybody can read one file until an instant: `{base}/files/<name>?expires=…&signature=…`.
 *
 * @param expiresAt Unix milliseconds; the address names whole seconds, rounded up.
 */
export function signedUrl(base: string, name: string, expiresAt: number, keys: SigningKeys): string {
  const expires = String(Math.ceil(expiresAt / 1000));
  return `${base}/files/${name}?expires=${expires}&signature=${
    signatureOf(name, expires, keys[0]).toString("base64url")
  }`;
}

/**
 * Whether an address is one of ours and still good. The signature is compared first, in constant time, and only then
 * the expiry is looked at. Nothing but `expires` and `signature`, each once, may stand in the query.
 *
 * @param query Without its question mark.
 * @param now Unix milliseconds.
 */
export function isValidSignature(name: string, query: string, now: number, keys: SigningKeys): boolean {
  const match = /^expires=([1-9][0-9]{0,15})&signature=([A-Za-z0-9_-]{43})$/.exec(query) ??
    swapped(/^signature=([A-Za-z0-9_-]{43})&expires=([1-9][0-9]{0,15})$/.exec(query));
  if (match === null) return false;
  const [, expires, signature] = match;
  const given = new TextEncoder().encode(signature);
  // Compared as text: base64 of 32 bytes has spellings that differ in bits that nobody reads.
  const isOurs = keys.map((key) => signatureOf(name, expires, key).toString("base64url"))
    .map((own) => timingSafeEqual(given, new TextEncoder().encode(own)))
    .includes(true);
  const expiresAt = Number(expires) * 1000;
  return isOurs && expiresAt > now && expiresAt <= now + MAX_SIGNED_URL_MS + 60_000;
}

function swapped(match: RegExpExecArray | null): readonly string[] | null {
  return match && [match[0], match[2], match[1]];
}

/**
 * Each part behind its length, so that no two sets of parts are one text. The method is GET, which stands for HEAD too.
 */
function signatureOf(name: string, expires: string, key: SigningKey) {
  const parts = [VERSION, "GET", name, expires, key.id];
  const text = parts.map((part) => `${part.length}:${part}`).join("");
  return createHmac("sha256", key.secret).update(text).digest();
}
