import { hash } from "node:crypto";
import { crc32 } from "node:zlib";
import { randomBase62 } from "../lib/ids.ts";

/**
 * A generated key is `sk-sy-`, 43 random characters of base 62 (256 bits), and the CRC-32 of all of it as 6 characters
 * of base 62. So scanners recognise keys, and a forged key is refused without a look-up. A key from the configuration
 * may be any 16 to 256 visible ASCII characters. The checksum is only verified for keys of the generated shape. Source:
 * docs/api/README.md#authentication.
 */
const PREFIX = "sk-sy-";
const RANDOM_CHARACTERS = 43;
const CHECKSUM_CHARACTERS = 6;
const SHOWN_CHARACTERS = 12;

const ACCEPTABLE = /^[\x21-\x7e]{16,256}$/;
const GENERATED_SHAPE = /^sk-sy-[0-9A-Za-z]{49}$/;
const BASE62 = "0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz";

/** What {@linkcode isWellFormedKey} expects; continues a message after "expected". */
export const KEY_EXPECTATION = "a key of 16 to 256 visible ASCII characters, with a valid checksum if it was generated";

/** A new secret of the generated shape. */
export function newApiKey(): string {
  const unsigned = PREFIX + randomBase62(RANDOM_CHARACTERS);
  return unsigned + checksumOf(unsigned);
}

/**
 * Whether a text can be a key. A text that is too short, too long, not visible ASCII, or has a wrong checksum is
 * refused without a look-up.
 */
export function isWellFormedKey(text: string): boolean {
  if (!ACCEPTABLE.test(text)) return false;
  if (!GENERATED_SHAPE.test(text)) return true;
  return checksumOf(text.slice(0, -CHECKSUM_CHARACTERS)) === text.slice(-CHECKSUM_CHARACTERS);
}

/** The SHA-256 of the whole secret, hexadecimal. 256 bits of entropy need no slow hash. */
export function hashOfKey(secret: string): string {
  return hash("sha256", secret);
}

/** The part of a secret that may be shown: its first twelve characters, or half of a shorter secret. */
export function visiblePrefixOf(secret: string): string {
  return secret.slice(0, Math.min(SHOWN_CHARACTERS, Math.floor(secret.length / 2)));
}

function checksumOf(text: string): string {
  let rest = crc32(text);
  let checksum = "";
  for (let i = 0; i < CHECKSUM_CHARACTERS; i++) {
    checksum = BASE62[rest % 62] + checksum;
    rest = Math.floor(rest / 62);
  }
  return checksum;
}
