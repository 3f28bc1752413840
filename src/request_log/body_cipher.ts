import { createCipheriv, createDecipheriv, hkdfSync, randomBytes } from "node:crypto";
import { gunzipSync, gzipSync } from "node:zlib";
import { concatBytes } from "../lib/concat_bytes.ts";

const VERSION = 1;
const NONCE_BYTES = 12;
const TAG_BYTES = 16;
const KEY_BYTES = 32;
const PURPOSE = "switchyard captured bodies";

/** The operator's key does not fit, or the stored bytes were changed. */
export class UndecryptableError extends Error {
  override readonly name = "UndecryptableError";
}

/**
 * Encrypts captured bodies: compressed, then AES-256-GCM with a key derived from the operator's secret (HKDF, RFC
 * 5869). The id of the request is authenticated with the bytes, so that no body can be moved to another request.
 *
 *     version (1 byte) | nonce (12) | tag (16) | ciphertext
 */
export class BodyCipher {
  readonly #key: Uint8Array;

  /** @param secret The operator's secret, of at least 16 characters. */
  constructor(secret: string) {
    this.#key = new Uint8Array(hkdfSync("sha256", secret, "", PURPOSE, KEY_BYTES));
  }

  /** Encrypts a body of a request. */
  encrypt(body: Uint8Array, requestId: string): Uint8Array {
    const nonce = randomBytes(NONCE_BYTES);
    const cipher = createCipheriv("aes-256-gcm", this.#key, nonce);
    cipher.setAAD(new TextEncoder().encode(requestId));
    const parts = [cipher.update(gzipSync(body)), cipher.final()];
    return concatBytes([Uint8Array.of(VERSION), nonce, cipher.getAuthTag(), ...parts]);
  }

  /**
   * Decrypts what {@linkcode BodyCipher.encrypt} returned.
   *
   * @throws {UndecryptableError}
   */
  decrypt(stored: Uint8Array, requestId: string): Uint8Array {
    try {
      if (stored[0] !== VERSION) throw new UndecryptableError("unknown version");
      const nonce = stored.subarray(1, 1 + NONCE_BYTES);
      const tag = stored.subarray(1 + NONCE_BYTES, 1 + NONCE_BYTES + TAG_BYTES);
      const decipher = createDecipheriv("aes-256-gcm", this.#key, nonce);
      decipher.setAAD(new TextEncoder().encode(requestId));
      decipher.setAuthTag(tag);
      const rest = stored.subarray(1 + NONCE_BYTES + TAG_BYTES);
      return gunzipSync(concatBytes([decipher.update(rest), decipher.final()]));
    } catch (cause) {
      throw new UndecryptableError("the key of the configuration does not fit, or the bytes were changed", { cause });
    }
  }
}
