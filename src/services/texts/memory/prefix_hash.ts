import { hash } from "node:crypto";

/**
 * A hash of the beginning of a prompt. It tells prompts of one account apart, and is no protection against a caller who
 * searches for collisions of its own prompts: such a caller would lose a mark.
 */
export interface PrefixDigest {
  /** 53 bits. */
  readonly high: number;
  /** 53 other bits. */
  readonly low: number;
}

/** Longer texts are hashed by the platform, whose call alone takes as long as a kilobyte here. */
const MAX_OWN_UNITS = 2_048;
/** The same for bytes, of which four are taken at once. */
const MAX_OWN_BYTES = 8_192;

/** Odd constants with well spread bits, from xxHash32. Source: xxHash specification, "XXH32 Algorithm Description". */
const A = 0x9e3779b1;
const B = 0x85ebca77;
const C = 0xc2b2ae3d;
const D = 0x27d4eb2f;
const E = 0x165667b1;

/**
 * Hashes a prompt piece by piece, and gives the digest of what was added so far at any time. Four lanes take every
 * fourth unit, so that the processor works on them at one time.
 */
export class PrefixHash {
  #a: number = A | 0;
  #b = B | 0;
  #c = C | 0;
  #d = D | 0;

  /** Adds a text. Its length is part of the hash, so that texts are not confused with others of the same join. */
  addText(text: string): void {
    const { length } = text;
    if (length > MAX_OWN_UNITS) return this.addText(hash("sha256", text, "base64"));
    let a = this.#a;
    let b = this.#b;
    let c = this.#c;
    let d = this.#d ^ length;
    let at = 0;
    for (const end = length - 7; at < end; at += 8) {
      a = mixed(a, text.charCodeAt(at) | text.charCodeAt(at + 4) << 16, A);
      b = mixed(b, text.charCodeAt(at + 1) | text.charCodeAt(at + 5) << 16, B);
      c = mixed(c, text.charCodeAt(at + 2) | text.charCodeAt(at + 6) << 16, C);
      d = mixed(d, text.charCodeAt(at + 3) | text.charCodeAt(at + 7) << 16, D);
    }
    // The lanes change places, so that the next character need not wait for this one.
    for (; at < length; at++) {
      const next = mixed(a, text.charCodeAt(at), A);
      a = b;
      b = c;
      c = d;
      d = next;
    }
    this.#keep(a, b, c, d);
  }

  /** Adds a range of bytes, as {@linkcode PrefixHash.addText} adds a text. */
  addBytes(bytes: DataView<ArrayBuffer>, start: number, end: number): void {
    const length = end - start;
    if (length > MAX_OWN_BYTES) {
      return this.addText(hash("sha256", new Uint8Array(bytes.buffer, bytes.byteOffset + start, length), "base64"));
    }
    let a = this.#a;
    let b = this.#b;
    let c = this.#c;
    let d = this.#d ^ length;
    let at = start;
    // Two units of a lane in one step, the second of them spread: reading takes most of the time.
    for (const last = end - 31; at < last; at += 32) {
      a = mixed(a, bytes.getInt32(at, true) ^ Math.imul(bytes.getInt32(at + 16, true), E), A);
      b = mixed(b, bytes.getInt32(at + 4, true) ^ Math.imul(bytes.getInt32(at + 20, true), E), B);
      c = mixed(c, bytes.getInt32(at + 8, true) ^ Math.imul(bytes.getInt32(at + 24, true), E), C);
      d = mixed(d, bytes.getInt32(at + 12, true) ^ Math.imul(bytes.getInt32(at + 28, true), E), D);
    }
    for (const last = end - 15; at < last; at += 16) {
      a = mixed(a, bytes.getInt32(at, true), A);
      b = mixed(b, bytes.getInt32(at + 4, true), B);
      c = mixed(c, bytes.getInt32(at + 8, true), C);
      d = mixed(d, bytes.getInt32(at + 12, true), D);
    }
    if (at < end && length >= 16) {
      // The last 16 bytes, some of them for the second time.
      a = mixed(a, bytes.getInt32(end - 16, true), A);
      b = mixed(b, bytes.getInt32(end - 12, true), B);
      c = mixed(c, bytes.getInt32(end - 8, true), C);
      d = mixed(d, bytes.getInt32(end - 4, true), D);
    } else {
      for (; at < end; at++) a = mixed(a, bytes.getUint8(at), A);
    }
    this.#keep(a, b, c, d);
  }

  /** Adds a number below 2^16 that separates or names pieces. */
  addTag(tag: number): void {
    this.#d = mixed(this.#d, tag, E);
  }

  /** The digest of everything that was added. More can be added after it. */
  digest(): PrefixDigest {
    const a = spread(this.#a ^ this.#c >>> 7);
    const b = spread(this.#b ^ a);
    const c = spread(this.#c ^ b);
    const d = spread(this.#d ^ c);
    return { high: joined(spread(a ^ d), b), low: joined(c, d) };
  }

  #keep(a: number, b: number, c: number, d: number): void {
    this.#a = a;
    this.#b = b;
    this.#c = c;
    this.#d = d;
  }
}

/** A secret of one process, which makes {@linkcode keyedHash}es of no use outside of it. */
export type HashSecret = readonly [number, number, number, number];

/** Returns a secret for {@linkcode keyedHash}. */
export function newHashSecret(): HashSecret {
  const [a = 0, b = 0, c = 0, d = 0] = crypto.getRandomValues(new Int32Array(4));
  return [a, b, c, d];
}

/** Returns 53 bits of a digest that show nothing of it without the secret. */
export function keyedHash({ high, low }: PrefixDigest, [a, b, c, d]: HashSecret): number {
  const one = spread(high % 2 ** 32 ^ a ^ spread(low / 2 ** 21 ^ c));
  const other = spread(low % 2 ** 32 ^ b ^ spread(high / 2 ** 21 ^ d ^ one));
  return joined(spread(one ^ other), other);
}

function mixed(lane: number, unit: number, factor: number): number {
  const product = Math.imul(lane ^ unit, factor);
  return product ^ product >>> 15;
}

/** Spreads every bit over all others. Source: the finalizer of MurmurHash3, `fmix32`. */
function spread(value: number): number {
  const once = Math.imul(value ^ value >>> 16, 0x85ebca6b);
  const twice = Math.imul(once ^ once >>> 13, 0xc2b2ae35);
  return twice ^ twice >>> 16;
}

function joined(high: number, low: number): number {
  return (high >>> 0) * 2 ** 21 + (low >>> 11);
}
