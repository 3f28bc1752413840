import { createHmac } from "node:crypto";
import { timingSafeEqual } from "@std/crypto/timing-safe-equal";
import { FILES_ROOT } from "../endpoints/callers.ts";

/** A key that signs file URLs. */
export interface SigningKey {
  /** Part of the signed text. */
  readonly id: string;
  readonly secret: Uint8Array;
}

/** The active keys, newest first. The first one signs; all verify. */
export type SigningKeys = readonly SigningKey[];

/**
 * The longest validity of a URL, which is also the limit of presigned S3 URLs. Source: docs/api/files.md#signatures.
 */
const MAX_SIGNED_URL_MS = 7 * 86_400_000;

const VERSION = "1";

/**
 * A URL with which anyone can read one file until it expires: `{base}/files/<name>?expires=…&signature=…`.
 *
 * @param expiresAt Unix milliseconds; the URL has whole seconds, rounded up.
 */
export function signedUrl(base: string, name: string, expiresAt: number, keys: SigningKeys): string {
  const [key] = keys;
  if (key === undefined) throw new RangeError("Cannot sign a URL: there is no signing key");
  const expires = String(Math.ceil(expiresAt / 1000));
  const signature = signatureOf(name, expires, key).toString("base64url");
  return `${base}${FILES_ROOT}/${name}?expires=${expires}&signature=${signature}`;
}

/**
 * Whether a URL was signed by one of the keys and has not expired. The signature is compared first, in constant time,
 * then the expiry. The query must have `expires` and `signature`, each once, and nothing else.
 *
 * @param query Without its question mark.
 * @param now Unix milliseconds.
 */
export function isValidSignature(name: string, query: string, now: number, keys: SigningKeys): boolean {
  const match = /^expires=([1-9][0-9]{0,15})&signature=([A-Za-z0-9_-]{43})$/.exec(query) ??
    swapped(/^signature=([A-Za-z0-9_-]{43})&expires=([1-9][0-9]{0,15})$/.exec(query));
  if (match === null) return false;
  const [, expires = "", signature = ""] = match;
  const given = new TextEncoder().encode(signature);
  // Compared as text: base64 of 32 bytes has several spellings, which differ in unused bits.
  const isOurs = keys.map((key) => signatureOf(name, expires, key).toString("base64url"))
    .map((own) => timingSafeEqual(given, new TextEncoder().encode(own)))
    .includes(true);
  const expiresAt = Number(expires) * 1000;
  return isOurs && expiresAt > now && expiresAt <= now + MAX_SIGNED_URL_MS + 60_000;
}

function swapped(match: RegExpExecArray | null): readonly string[] | null {
  return match && [match[0], match[2] ?? "", match[1] ?? ""];
}

/**
 * Each part has its length before it, so that different parts never give the same text. The method is GET, also for
 * HEAD.
 */
function signatureOf(name: string, expires: string, key: SigningKey) {
  const parts = [VERSION, "GET", name, expires, key.id];
  const text = parts.map((part) => `${part.length}:${part}`).join("");
  return createHmac("sha256", key.secret).update(text).digest();
}
