import { crc32 } from "node:zlib";
import { randomBase62 } from "./ids.ts";

/**
 * A secret is a prefix, 43 random characters of base 62 (256 bits), and the CRC-32 of all of it as 6 characters of base
 * 62. So scanners recognise secrets, and a mistyped one is refused without a look-up.
 */
const RANDOM_CHARACTERS = 43;
const CHECKSUM_CHARACTERS = 6;
const BASE62 = "0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz";

/** Generates a secret. */
export function newChecksummedSecret(prefix: string): string {
  const unsigned = prefix + randomBase62(RANDOM_CHARACTERS);
  return unsigned + checksumOf(unsigned);
}

/** Whether the last characters of a text are the checksum of the others. */
export function hasValidChecksum(text: string): boolean {
  return checksumOf(text.slice(0, -CHECKSUM_CHARACTERS)) === text.slice(-CHECKSUM_CHARACTERS);
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
