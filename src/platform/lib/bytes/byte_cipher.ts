import { createCipheriv, createDecipheriv, hkdfSync, randomBytes } from "node:crypto";
import { concatBytes } from "./concat_bytes.ts";

const VERSION = 1;
const NONCE_BYTES = 12;
const TAG_BYTES = 16;
const KEY_BYTES = 32;

/** The key does not fit, or the stored bytes were changed. */
export class UndecryptableError extends Error {
  override readonly name = "UndecryptableError";
}

/**
 * Encrypts bytes by AES-256-GCM with a key derived from a secret (HKDF, RFC 5869). A context is authenticated with the
 * bytes, so that they cannot be moved to another place.
 *
 *     version (1 byte) | nonce (12) | tag (16) | ciphertext
 */
export class ByteCipher {
  readonly #key: Uint8Array;

  /**
   * @param secret Text of at least 16 characters, or random bytes.
   * @param purpose Separates the keys that are derived from one secret.
   */
  constructor(secret: string | Uint8Array, purpose: string) {
    this.#key = new Uint8Array(hkdfSync("sha256", secret, "", purpose, KEY_BYTES));
  }

  /** Encrypts bytes of a context. */
  encrypt(bytes: Uint8Array, context: string): Uint8Array<ArrayBuffer> {
    const nonce = randomBytes(NONCE_BYTES);
    const cipher = createCipheriv("aes-256-gcm", this.#key, nonce);
    cipher.setAAD(new TextEncoder().encode(context));
    const parts = [cipher.update(bytes), cipher.final()];
    return concatBytes([Uint8Array.of(VERSION), nonce, cipher.getAuthTag(), ...parts]);
  }

  /**
   * Decrypts what {@linkcode ByteCipher.encrypt} returned for the same context.
   *
   * @throws {UndecryptableError}
   */
  decrypt(stored: Uint8Array, context: string): Uint8Array<ArrayBuffer> {
    try {
      if (stored[0] !== VERSION) throw new UndecryptableError("unknown version");
      const nonce = stored.subarray(1, 1 + NONCE_BYTES);
      const tag = stored.subarray(1 + NONCE_BYTES, 1 + NONCE_BYTES + TAG_BYTES);
      const decipher = createDecipheriv("aes-256-gcm", this.#key, nonce);
      decipher.setAAD(new TextEncoder().encode(context));
      decipher.setAuthTag(tag);
      const rest = stored.subarray(1 + NONCE_BYTES + TAG_BYTES);
      return concatBytes([decipher.update(rest), decipher.final()]);
    } catch (cause) {
      throw new UndecryptableError("the key does not fit, or the bytes were changed", { cause });
    }
  }
}
