const QUOTE = 0x22, BACKSLASH = 0x5c, COMMA = 0x2c, LIST = 0x5b, OBJECT = 0x7b;
/** Some milliseconds of work. */
const SLICE_BYTES = 1_000_000;
/** A text that is shorter cannot hold enough values to matter. */
const MIN_BYTES = 262_144;

/**
 * Whether a JSON text holds more than so many values. Values take far longer to parse than the bytes of a long string,
 * and parsing cannot be interrupted; this count lets other work go on in between.
 *
 * @param bytes UTF-8. Of a text that is no JSON, it says no more than was seen.
 */
export async function hasMoreValuesThan(bytes: Uint8Array, maxValues: number): Promise<boolean> {
  if (bytes.length < MIN_BYTES) return false;
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
    }
    if (values > maxValues) return true;
    from = at; // an escape may reach beyond the slice
    if (from < bytes.length) await new Promise((resolve) => setTimeout(resolve, 0));
  }
  return false;
}

/**
 * Whether a text of JSON holds more than so many values, for texts of some hundred kilobytes, which are counted at
 * once.
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

/**
 * The place of the quote that ends a string; the text's length where none does. Long strings are passed in one search.
 */
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
