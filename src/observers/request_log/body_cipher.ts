import { gunzipSync, gzipSync } from "node:zlib";
import { ByteCipher, UndecryptableError } from "../../platform/lib/bytes/byte_cipher.ts";

const PURPOSE = "switchyard captured bodies";

/**
 * Encrypts captured bodies, compressed, with a key derived from the operator's secret. The id of the request is their
 * context, so that no body can be moved to another request.
 */
export class BodyCipher {
  readonly #cipher: ByteCipher;

  /** @param secret The operator's secret, of at least 16 characters. */
  constructor(secret: string) {
    this.#cipher = new ByteCipher(secret, PURPOSE);
  }

  /** Encrypts a body of a request. */
  encrypt(body: Uint8Array, requestId: string): Uint8Array {
    return this.#cipher.encrypt(gzipSync(body), requestId);
  }

  /**
   * Decrypts what {@linkcode BodyCipher.encrypt} returned.
   *
   * @throws {UndecryptableError}
   */
  decrypt(stored: Uint8Array, requestId: string): Uint8Array {
    try {
      return gunzipSync(this.#cipher.decrypt(stored, requestId));
    } catch (cause) {
      throw new UndecryptableError("the key of the configuration does not fit, or the bytes were changed", { cause });
    }
  }
}
