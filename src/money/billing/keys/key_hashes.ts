import { randomBytes } from "node:crypto";

/** A key that was accepted before, and its hash. */
interface KnownKey {
  readonly secret: string;
  readonly hash: string;
}

const MAX_KEYS = 10_000;
/** Fingerprints are small integers, which are the cheapest keys of a map. */
const FINGERPRINT_MASK = 0x3fff_ffff;

/**
 * Remembers the SHA-256 of keys, which costs more than the rest of their look-up. It is only given keys that were
 * accepted, so wrong keys take no room.
 *
 * The time of a look-up must not tell how much of a sent text is right. A key is found by a fingerprint with two secret
 * random numbers, so that no one can choose texts of one fingerprint. The found key is then compared as a whole: the
 * time of the comparison depends on the length alone.
 */
export class KeyHashes {
  readonly #seed = randomBytes(4).readInt32LE();
  readonly #factor = randomBytes(4).readInt32LE() | 1; // An odd factor loses no bits.
  readonly #known = new Map<number, KnownKey>();

  /** The hash of a key that was remembered; null for any other text. */
  find(secret: string): string | null {
    const known = this.#known.get(this.#fingerprintOf(secret));
    return known !== undefined && isEqual(known.secret, secret) ? known.hash : null;
  }

  /** Remembers a key. Of many, those that were remembered first are dropped. */
  remember(secret: string, hash: string): void {
    if (this.#known.size >= MAX_KEYS) this.#known.delete(this.#known.keys().next().value!);
    this.#known.set(this.#fingerprintOf(secret), { secret, hash });
  }

  /** Forgets a key, if it is remembered. */
  forget(secret: string): void {
    if (this.find(secret) !== null) this.#known.delete(this.#fingerprintOf(secret));
  }

  /** Forgets all keys. */
  clear(): void {
    this.#known.clear();
  }

  #fingerprintOf(text: string): number {
    let sum = this.#seed;
    for (let at = 0; at < text.length; at++) {
      sum = Math.imul(sum ^ text.charCodeAt(at), this.#factor);
      sum ^= sum >>> 15; // Brings the high bits, which the product mixes best, down to the next character.
    }
    return sum & FINGERPRINT_MASK;
  }
}

/** Compares every character, however early two differ. */
function isEqual(one: string, other: string): boolean {
  if (one.length !== other.length) return false;
  let difference = 0;
  for (let at = 0; at < one.length; at++) difference |= one.charCodeAt(at) ^ other.charCodeAt(at);
  return difference === 0;
}
