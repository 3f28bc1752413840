import type { MaybePromise } from "../basics/maybe_promise.ts";

const QUOTE = 0x22, BACKSLASH = 0x5c, COMMA = 0x2c, COLON = 0x3a;
const OPEN_LIST = 0x5b, CLOSE_LIST = 0x5d, OPEN_OBJECT = 0x7b, CLOSE_OBJECT = 0x7d;
/** A few milliseconds of work. */
const SLICE_BYTES = 500_000;
/** A shorter text cannot contain enough values to matter. */
const MIN_BYTES = 32_768;
/**
 * For how many values a name counts that leads to an object with other names than all before it: 100,000 of these take
 * 200 ms to parse, as many numbers two, and as many objects and members with known names ten.
 */
export const NEW_NAME_VALUES = 40;

/** A longer text is not looked up in the table of those that a parser has seen. Source: V8, `JsonParser`. */
const MAX_SHORT_LETTERS = 10;

/** For how many values something counts that takes longer to parse than a number. */
export interface ValueWeights {
  /** A new name. Default: {@linkcode NEW_NAME_VALUES}. */
  readonly newName?: number;
  /** An object, a list, and a text of up to ten bytes. Default: 1. */
  readonly small?: number;
}

/**
 * Whether a JSON text contains more than `maxValues` values. Values take far longer to parse than the bytes of a long
 * string, and parsing cannot be interrupted. This count yields to other work between slices. The result is immediate
 * for a short text.
 *
 * @param bytes UTF-8. For invalid JSON the result covers the part that was scanned.
 */
export function hasMoreValuesThan(
  bytes: Uint8Array,
  maxValues: number,
  weights: ValueWeights = {},
): MaybePromise<boolean> {
  return bytes.length < MIN_BYTES ? false : countsMoreThan(bytes, maxValues, weights);
}

async function countsMoreThan(
  bytes: Uint8Array,
  maxValues: number,
  { newName = NEW_NAME_VALUES, small = 1 }: ValueWeights,
): Promise<boolean> {
  const shapes = new JsonShapes();
  let values = 1;
  let smalls = 0;
  let start = -1;
  let end = -1;
  let inString = false;
  for (let from = 0; from < bytes.length;) {
    const to = Math.min(from + SLICE_BYTES, bytes.length);
    let at = from;
    for (; at < to; at++) {
      const byte = bytes[at];
      if (inString) {
        if (byte === BACKSLASH) at++;
        else if (byte === QUOTE) {
          inString = false;
          end = at;
          if (end - start <= MAX_SHORT_LETTERS) smalls++;
        }
      } else if (byte === QUOTE) {
        inString = true;
        start = at + 1;
      } else if (byte === COMMA) values++;
      else if (byte === COLON) {
        if (end - start <= MAX_SHORT_LETTERS) smalls--; // it was a name
        shapes.add(bytes, start, end);
      } else if (byte === OPEN_LIST || byte === OPEN_OBJECT) {
        values++;
        smalls++;
        shapes.open();
      } else if (byte === CLOSE_LIST || byte === CLOSE_OBJECT) shapes.close();
    }
    if (values + smalls * (small - 1) + shapes.made * newName > maxValues) return true;
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

/** For how many values a new name counts in an event: some repeat the tools of the request, with thousands of names. */
const EVENT_NAME_VALUES = 10;

/**
 * Whether a JSON text contains more than `maxValues` values, as {@linkcode hasMoreValuesThan} counts them. It counts in
 * one step, for events and errors of a few hundred kilobytes.
 */
export function textHasMoreValuesThan(text: string, maxValues: number): boolean {
  if (text.length < MIN_BYTES && text.length <= maxValues) return false;
  const shapes = new JsonShapes();
  let values = 1;
  let start = -1;
  let end = -1;
  for (let at = 0; at < text.length; at++) {
    const code = text.charCodeAt(at);
    if (code === QUOTE) {
      start = at + 1;
      at = end = endOfString(text, at);
    } else if (code === COMMA) values++;
    else if (code === COLON) shapes.add(text, start, end);
    else if (code === OPEN_LIST || code === OPEN_OBJECT) {
      values++;
      shapes.open();
    } else if (code === CLOSE_LIST || code === CLOSE_OBJECT) shapes.close();
    else continue;
    if (values + shapes.made * EVENT_NAME_VALUES > maxValues) return true;
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

/** Deeper levels count as one. */
const MAX_LEVELS = 256;
/** Each shape has one of so many places. */
const PLACE_BITS = 18;
/** Of a longer name only these letters count. */
const MAX_NAME_LETTERS = 64;
const EMPTY = 0x9e3779b9 | 0;
/** Odd and not foreseeable, so that no sender can find names that share a place. */
const [FACTOR = 1, OTHER_FACTOR = 1] = crypto.getRandomValues(new Int32Array(2)).map((each) => each | 1);

/**
 * Counts the shapes of objects that a parser of JSON has to make, see {@linkcode NEW_NAME_VALUES}. Objects share a
 * shape if their names are the same, in the same order. Source: V8, "Maps (Hidden Classes)".
 */
class JsonShapes {
  /** The shapes that were made. Some are missed if there are very many. */
  made = 0;
  readonly #seen = new Uint8Array(2 ** (PLACE_BITS - 3));
  /** The shape of the open object of each level. */
  readonly #shapes = new Int32Array(MAX_LEVELS);
  #level = 0;

  /** An object or a list begins. */
  open(): void {
    this.#level++;
    this.#shapes[this.#level & (MAX_LEVELS - 1)] = EMPTY;
  }

  /** An object or a list ends. */
  close(): void {
    this.#level--;
  }

  /** The open object gets a member. @param letters The text that has the name, from `start` to `end`. */
  add(letters: { readonly [at: number]: number } | string, start: number, end: number): void {
    const level = this.#level & (MAX_LEVELS - 1);
    let shape = this.#shapes[level] ?? EMPTY;
    const last = Math.min(end, start + MAX_NAME_LETTERS);
    for (let at = start; at < last; at++) {
      const letter = typeof letters === "string" ? letters.charCodeAt(at) : letters[at] ?? 0;
      shape = Math.imul(shape ^ letter, FACTOR);
      shape ^= shape >>> 15;
    }
    shape = Math.imul(shape + end - start, OTHER_FACTOR);
    this.#shapes[level] = shape;
    const place = shape >>> (32 - PLACE_BITS);
    const mask = 1 << (place & 7);
    const seen = this.#seen[place >>> 3] ?? 0;
    if ((seen & mask) !== 0) return;
    this.#seen[place >>> 3] = seen | mask;
    this.made++;
  }
}
