import { Buffer } from "node:buffer";
import type { JsonScan } from "./json.ts";

/**
 * An outline of a JSON text: the text without some of its long strings. Parsing the escapes of a long string takes most
 * of the time that it needs. Each omitted string becomes a short one: a DEL character and the string's number in
 * {@linkcode JsonScan.longStrings}, with as many digits that V8 does not look it up in its table of known strings.
 */

const MARK = "\u007f";
const DIGITS = 10;
const QUOTE = 0x22;
const ZERO = 0x30;
/** A shorter range is copied faster byte by byte than by a call. */
const MIN_BLOCK_BYTES = 48;
/** The quotes, the mark and the number. */
const REPLACEMENT_BYTES = 3 + DIGITS;

/** Most outlines are written here, since a new buffer costs more than its content. */
const SCRATCH = Buffer.alloc(16_384);

/** Which strings an outline omits: long ones of members with one of the names, within one of the top-level members. */
export interface OmittedStrings {
  readonly within: ReadonlySet<string>;
  /** In ASCII. A name that is spelled with escapes in the text does not count. */
  readonly names: readonly string[];
}

/**
 * Returns the outline. It is valid JSON exactly if the text is, provided that the text is UTF-8.
 *
 * @param bytes The scanned text.
 * @returns Null if nothing is omitted.
 */
export function outlineOf(bytes: Uint8Array, scan: JsonScan, { within, names }: OmittedStrings): string | null {
  const { longStrings, members } = scan;
  const omitted: number[] = [];
  let length = bytes.length;
  let member = -1;
  let memberEnd = -1;
  let isWithin = false;
  for (let index = 0; index < longStrings.length; index += 3) {
    const nameStart = longStrings[index] ?? 0;
    while (memberEnd < nameStart) {
      const { key = "", valueEnd = Infinity } = members[++member] ?? {};
      memberEnd = valueEnd;
      isWithin = within.has(key);
    }
    if (!isWithin || !isOneOf(names, bytes, nameStart)) continue;
    omitted.push(index);
    length -= (longStrings[index + 2] ?? 0) - (longStrings[index + 1] ?? 0) - REPLACEMENT_BYTES;
  }
  if (omitted.length === 0) return null;
  const target = length <= SCRATCH.length ? SCRATCH : Buffer.allocUnsafeSlow(length);
  let from = 0;
  let to = 0;
  for (const index of omitted) {
    to = copied(bytes, from, longStrings[index + 1] ?? 0, target, to);
    to = numbered(index / 3, target, to);
    from = longStrings[index + 2] ?? 0;
  }
  copied(bytes, from, bytes.length, target, to);
  return target.toString(scan.isAscii ? "latin1" : "utf8", 0, length);
}

/**
 * The string of the text that a string of the outline represents; the same string if it represents none. A caller that
 * sends such a string itself gets another string of the same text.
 */
export function omittedText(bytes: Uint8Array, scan: JsonScan, text: string): string {
  const range = omittedRange(scan, text);
  if (range === null) return text;
  const { start, end } = range;
  return JSON.parse(Buffer.from(bytes.buffer, bytes.byteOffset + start, end - start).toString());
}

/** The bytes of the string that a string of the outline represents, with its quotes; null if it represents none. */
export function omittedRange(
  { longStrings }: Pick<JsonScan, "longStrings">,
  text: string,
): { readonly start: number; readonly end: number } | null {
  if (!text.startsWith(MARK)) return null;
  let number = 0;
  for (let at = MARK.length; at < text.length; at++) number = 10 * number + text.charCodeAt(at) - ZERO;
  const index = 3 * number + 1;
  const start = longStrings[index];
  const end = longStrings[index + 1];
  return start === undefined || end === undefined ? null : { start, end };
}

/** Whether a name of a member, whose opening quote is at `start`, is one of `names`. */
function isOneOf(names: readonly string[], bytes: Uint8Array, start: number): boolean {
  for (const name of names) if (isSpelled(name, bytes, start + 1)) return true;
  return false;
}

function isSpelled(name: string, bytes: Uint8Array, start: number): boolean {
  for (let at = 0; at < name.length; at++) if (bytes[start + at] !== name.charCodeAt(at)) return false;
  return bytes[start + name.length] === QUOTE;
}

/** Writes the string that replaces an omitted one. */
function numbered(index: number, target: Uint8Array, start: number): number {
  const end = start + REPLACEMENT_BYTES;
  target[start] = target[end - 1] = QUOTE;
  target[start + 1] = MARK.charCodeAt(0);
  let rest = index;
  for (let at = end - 2; at > start + 1; at--) {
    target[at] = ZERO + rest % 10;
    rest = Math.floor(rest / 10);
  }
  return end;
}

function copied(source: Uint8Array, start: number, end: number, target: Uint8Array, to: number): number {
  if (end - start > MIN_BLOCK_BYTES) target.set(source.subarray(start, end), to);
  else for (let at = start; at < end; at++) target[to + at - start] = source[at] ?? 0;
  return to + end - start;
}
