import { Buffer } from "node:buffer";
import type { JsonScan } from "./json.ts";
import { readName } from "./json_names.ts";

/**
 * An outline of a JSON text: the text without some of its long strings. Parsing the escapes of a long string takes most
 * of the time that it needs. Each omitted string becomes a short one: a NUL character and the string's number in
 * {@linkcode JsonScan.longStrings}.
 */

const MARK = "\u0000";
const QUOTE = 0x22;
const ZERO = 0x30;
/** A shorter range is copied faster byte by byte than by a call. */
const MIN_BLOCK_BYTES = 48;
const OMITTED = Buffer.from('"\\u0000');
/** The quotes, the mark, and a number of up to 16 digits. */
const MAX_REPLACEMENT_BYTES = OMITTED.length + 17;

/** Which strings an outline omits: long ones of members with one of the names, within one of the top-level members. */
export interface OmittedStrings {
  readonly within: ReadonlySet<string>;
  readonly names: ReadonlySet<string>;
}

/**
 * Writes the outline. It is valid JSON exactly if the text is, provided that the text is UTF-8.
 *
 * @param bytes The scanned text.
 * @returns Null if nothing is omitted.
 */
export function outlineOf(bytes: Uint8Array, scan: JsonScan, { within, names }: OmittedStrings): Uint8Array | null {
  const { longStrings, members } = scan;
  const omitted: number[] = [];
  let length = bytes.length;
  let member = 0;
  for (let index = 0; index < longStrings.length; index += 3) {
    const nameStart = longStrings[index] ?? 0;
    while ((members[member]?.valueEnd ?? Infinity) < nameStart) member++;
    if (!within.has(members[member]?.key ?? "")) continue;
    if (!names.has(readName(bytes, nameStart, bytes.indexOf(QUOTE, nameStart + 1)))) continue;
    omitted.push(index);
    length -= (longStrings[index + 2] ?? 0) - (longStrings[index + 1] ?? 0) - MAX_REPLACEMENT_BYTES;
  }
  if (omitted.length === 0) return null;
  const target = new Uint8Array(length);
  let from = 0;
  let to = 0;
  for (const index of omitted) {
    to = copied(bytes, from, longStrings[index + 1] ?? 0, target, to);
    to = numbered(index / 3, target, to);
    from = longStrings[index + 2] ?? 0;
  }
  return target.subarray(0, copied(bytes, from, bytes.length, target, to));
}

/**
 * The string of the text that a string of the outline represents; the same string if it represents none. A caller that
 * sends such a string itself gets another string of the same text.
 */
export function omittedText(bytes: Uint8Array, { longStrings }: JsonScan, text: string): string {
  if (!text.startsWith(MARK)) return text;
  const index = 3 * Number(text.slice(MARK.length)) + 1;
  const start = longStrings[index];
  const end = longStrings[index + 1];
  if (start === undefined || end === undefined) return text;
  return JSON.parse(Buffer.from(bytes.buffer, bytes.byteOffset + start, end - start).toString());
}

/** Writes the string that replaces an omitted one. */
function numbered(index: number, target: Uint8Array, start: number): number {
  let to = copied(OMITTED, 0, OMITTED.length, target, start);
  let unit = 1;
  while (unit * 10 <= index) unit *= 10;
  for (; unit >= 1; unit = Math.floor(unit / 10)) target[to++] = ZERO + Math.floor(index / unit) % 10;
  target[to++] = QUOTE;
  return to;
}

function copied(source: Uint8Array, start: number, end: number, target: Uint8Array, to: number): number {
  if (end - start > MIN_BLOCK_BYTES) target.set(source.subarray(start, end), to);
  else for (let at = start; at < end; at++) target[to + at - start] = source[at] ?? 0;
  return to + end - start;
}
