import { hash } from "node:crypto";
import { hasValidChecksum, newChecksummedSecret } from "../../../platform/lib/basics/checksummed_secret.ts";

/**
 * A generated key is `sk-sy-`, random characters and a checksum. A key from the configuration may be any 16 to 256
 * visible ASCII characters. The checksum is only verified for keys of the generated shape. Source:
 * docs/api/README.md#authentication.
 */
const PREFIX = "sk-sy-";
const SHOWN_CHARACTERS = 12;

const ACCEPTABLE = /^[\x21-\x7e]{16,256}$/;
const GENERATED_SHAPE = /^sk-sy-[0-9A-Za-z]{49}$/;

/** What {@linkcode isWellFormedKey} expects; continues a message after "expected". */
export const KEY_EXPECTATION = "a key of 16 to 256 visible ASCII characters, with a valid checksum if it was generated";

/** A new secret of the generated shape. */
export function newApiKey(): string {
  return newChecksummedSecret(PREFIX);
}

/**
 * Whether a text can be a key. A text that is too short, too long, not visible ASCII, or has a wrong checksum is
 * refused without a look-up.
 */
export function isWellFormedKey(text: string): boolean {
  if (!ACCEPTABLE.test(text)) return false;
  return !GENERATED_SHAPE.test(text) || hasValidChecksum(text);
}

/** The SHA-256 of the whole secret, hexadecimal. 256 bits of entropy need no slow hash. */
export function hashOfKey(secret: string): string {
  return hash("sha256", secret);
}

/** The part of a secret that may be shown: its first twelve characters, or half of a shorter secret. */
export function visiblePrefixOf(secret: string): string {
  return secret.slice(0, Math.min(SHOWN_CHARACTERS, Math.floor(secret.length / 2)));
}
