import type { Key } from "../platform/store/store.ts";

/** A session of the console as it is stored. Nothing of it can be read without the token of its browser. */
export interface StoredSession {
  /** The session as JSON, encrypted with a key that is derived from the token. */
  readonly encrypted: Uint8Array;
  /** The last use, at most a minute late. Unix milliseconds by the clock of the store. */
  readonly usedAt: number;
}

/**
 * The key of a {@linkcode StoredSession}.
 *
 * @param hash The SHA-256 of its token, in hexadecimal.
 */
export function sessionKey(hash: string): Key {
  return ["console", "session", hash];
}
