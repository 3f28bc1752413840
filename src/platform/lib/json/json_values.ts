import type { MaybePromise } from "../basics/maybe_promise.ts";

const QUOTE = 0x22, BACKSLASH = 0x5c, COMMA = 0x2c, COLON = 0x3a, LIST = 0x5b, OBJECT = 0x7b;
/** A few milliseconds of work. */
const SLICE_BYTES = 1_000_000;
/** A shorter text cannot contain enough values to matter. */
const MIN_BYTES = 262_144;

/**
 * Whether a JSON text contains more than `maxValues` values. Values take far longer to parse than the bytes of a long
 * string, and parsing cannot be interrupted. This count yields to other work between slices. The result is immediate
 * for a short text.
 *
 * @param bytes UTF-8. For invalid JSON the result covers the part that was scanned.
 * @param memberValues For how many further values a member of an object counts. Default: none.
 */
export function hasMoreValuesThan(bytes: Uint8Array, maxValues: number, memberValues = 0): MaybePromise<boolean> {
  return bytes.length < MIN_BYTES ? false : countsMoreThan(bytes, maxValues, memberValues);
}

async function countsMoreThan(bytes: Uint8Array, maxValues: number, memberValues: number): Promise<boolean> {
  let values = 1;
  let inString = false;
  for (let from = 0; from < bytes.length;) {
    const to = Math.min(from + SLICE_BYTES, bytes.length);
    let at = from;
    for (; at < to; at++) {
      const byte = bytes[at];
      if (inString) {
        if (byte === BACKSLASH) at++;
        else if (byte === QUOTE) inString = false;
      } else if (byte === QUOTE) inString = true;
      else if (byte === COMMA || byte === LIST || byte === OBJECT) values++;
      else if (byte === COLON) values += memberValues;
    }
    if (values > maxValues) return true;
    from = at; // an escape may extend beyond the slice
    if (from < bytes.length) await new Promise((resolve) => setTimeout(resolve, 0));
  }
  return false;
}

/**
 * Checks the number of values of a JSON text before it is parsed.
 *
 * @throws {RangeError} If there are more than `maxValues`.
 */
export async function checkValueCount(bytes: Uint8Array, maxValues: number): Promise<void> {
  if (await hasMoreValuesThan(bytes, maxValues)) throw new RangeError(`Expected at most ${maxValues} JSON values`);
}

/**
 * Whether a JSON text contains more than `maxValues` values. It counts in one step, for texts of a few hundred
 * kilobytes.
 */
export function textHasMoreValuesThan(text: string, maxValues: number): boolean {
  if (text.length <= maxValues) return false;
  let values = 1;
  for (let at = 0; at < text.length; at++) {
    const code = text.charCodeAt(at);
    if (code === QUOTE) at = endOfString(text, at);
    else if ((code === COMMA || code === LIST || code === OBJECT) && ++values > maxValues) return true;
  }
  return false;
}

/** The offset of the quote that ends a string; the text's length if there is none. A long string takes one search. */
function endOfString(text: string, start: number): number {
  for (let at = start + 1;;) {
    const quote = text.indexOf('"', at);
    if (quote < 0) return text.length;
    let before = quote;
    while (text.charCodeAt(before - 1) === BACKSLASH) before--;
    if ((quote - before) % 2 === 0) return quote;
    at = quote + 1;
  }
}
