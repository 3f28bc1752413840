import { ByteCipher, UndecryptableError } from "../platform/lib/bytes/byte_cipher.ts";

/** A person who has signed in. */
export interface Session {
  /** The admin key or the API key. Every request is authenticated by it again. */
  readonly key: string;
  /** Whether `key` is an admin key. */
  readonly isOperator: boolean;
  /** What a request that changes something must repeat in a header field. */
  readonly csrfToken: string;
  /** When the session ends at the latest, in Unix milliseconds by the clock of the store. */
  readonly expiresAt: number;
}

const PURPOSE = "session of the console";

/**
 * Encrypts a session with a key that is derived from its token.
 *
 * @param hash Under which it is stored. It cannot be decrypted under another one.
 */
export function encryptSession(session: Session, token: string, hash: string): Uint8Array {
  return new ByteCipher(token, PURPOSE).encrypt(new TextEncoder().encode(JSON.stringify(session)), hash);
}

/** Decrypts what {@linkcode encryptSession} returned for the same token and hash; null for anything else. */
export function decryptSession(encrypted: Uint8Array, token: string, hash: string): Session | null {
  try {
    return JSON.parse(new TextDecoder().decode(new ByteCipher(token, PURPOSE).decrypt(encrypted, hash)));
  } catch (error) {
    if (error instanceof UndecryptableError) return null;
    throw error;
  }
}
