import { createHash } from "node:crypto";

/** The numbers of a vector for a request that sets none. */
export const SANDBOX_DIMENSIONS = 256;

/**
 * Returns the vector of a text: of length 1, and the same for the same text. Texts that share words have similar
 * vectors, and a shorter vector is the start of a longer one, of length 1 again.
 */
export function vectorOf(text: string, dimensions: number): number[] {
  const sums = new Array<number>(dimensions).fill(0);
  const words = text.toLowerCase().match(/[\p{L}\p{N}]+/gu) ?? [text];
  for (const word of words) {
    let digest = createHash("sha256").update(word).digest();
    for (let at = 0; at < dimensions; at++) {
      if (at % digest.length === 0 && at > 0) digest = createHash("sha256").update(digest).digest();
      sums[at] = (sums[at] ?? 0) + (digest[at % digest.length] ?? 0) / 127.5 - 1;
    }
  }
  const length = Math.hypot(...sums) || 1;
  return sums.map((sum) => Math.fround(sum / length));
}

/** Returns how similar two texts are, from 0 to 1: the product of their vectors. */
export function similarityOf(one: string, other: string): number {
  const vector = vectorOf(other, SANDBOX_DIMENSIONS);
  const product = vectorOf(one, SANDBOX_DIMENSIONS).reduce((sum, each, at) => sum + each * (vector[at] ?? 0), 0);
  return Math.min(1, Math.max(0, product));
}

/** Returns a vector as 32-bit floats, little-endian, in base64. */
export function writeBase64Vector(vector: readonly number[]): string {
  const view = new DataView(new ArrayBuffer(vector.length * 4));
  vector.forEach((each, at) => view.setFloat32(at * 4, each, true));
  return new Uint8Array(view.buffer).toBase64();
}
