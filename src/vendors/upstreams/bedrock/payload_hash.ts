import { createHash } from "node:crypto";
import { nextTurn } from "../../../platform/lib/streams/loop_turns.ts";

/** What is hashed without a pause: about two milliseconds of work. */
const MAX_SLICE_BYTES = 1_048_576;

/**
 * The SHA-256 of a body in hexadecimal digits. A large body is hashed in slices, between which other requests are
 * served, and is not copied.
 *
 * @param parts The bytes of the body, in order.
 */
export async function payloadHash(parts: readonly Uint8Array[]): Promise<string> {
  const hash = createHash("sha256");
  let bytes = 0;
  for (const part of parts) {
    for (let at = 0; at < part.length; at += MAX_SLICE_BYTES) {
      const slice = part.subarray(at, at + MAX_SLICE_BYTES);
      bytes += slice.length;
      if (bytes > MAX_SLICE_BYTES) {
        await nextTurn();
        bytes = slice.length;
      }
      hash.update(slice);
    }
  }
  return hash.digest("hex");
}
