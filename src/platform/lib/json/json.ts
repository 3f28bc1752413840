import type { ByteParts } from "../bytes/byte_parts.ts";
import { type Cut, withCuts } from "./json_cuts.ts";
import {
  hasInvalidString,
  INDEX_PIECE_BYTES,
  indexedOffsets,
  indexPiece,
  isIndexedAscii,
  startIndex,
} from "./json_index.ts";
import { readName } from "./json_names.ts";

/**
 * Scans a JSON text without parsing it: its depth, repeated members of the top-level object, and the byte range of each
 * top-level member. Members can then be replaced or removed while all other bytes stay as they were sent.
 */

/** One member of the top-level object. All offsets are in bytes from the start of the text. */
export interface JsonMember {
  /** The name with escapes decoded. */
  readonly key: string;
  /** The offset of the quote that opens the name. */
  readonly keyStart: number;
  /** The offset of the first byte of the value. */
  readonly valueStart: number;
  /** The offset just after the last byte of the value. */
  readonly valueEnd: number;
}

/**
 * The outline of a JSON text. It is exact for texts that `JSON.parse` accepts. For others it covers the part before the
 * first error.
 */
export interface JsonScan {
  /** The maximum nesting depth of objects and arrays; 0 for a bare string or number. */
  readonly depth: number;
  /** The number of objects and arrays. Parsed, each needs more memory than its text. */
  readonly containers: number;
  /** The members of the top-level object in order; empty if the text is not an object. */
  readonly members: readonly JsonMember[];
  /** The first name that appears twice in the top-level object; null if none does. The scan stops there. */
  readonly duplicate: string | null;
  /** The offset of the brace that closes the top-level object; -1 if the object is missing or incomplete. */
  readonly objectEnd: number;
  /**
   * The number of members of all objects at any depth, with repeated names counted each time. Defined for complete
   * objects.
   */
  readonly memberCount: number;
  /** The number of objects, arrays and commas: about the number of values. */
  readonly valueCount: number;
  /** Whether all bytes of the text are ASCII. */
  readonly isAscii: boolean;
  /**
   * The long strings that are values of members: three offsets each, of the quote that opens the name, the quote that
   * opens the string, and the byte after the string. Each of them is valid as JSON, except for its UTF-8. Strings with
   * the escapes `\\u` and `\\/` are left out, so that a search in the text does not miss an escaped spelling.
   */
  readonly longStrings: readonly number[];
}

/** A string in {@linkcode JsonScan.longStrings} is longer. It must be longer than what replaces it in an outline. */
const LONG_STRING_BYTES = 256;

/** Changes to the top-level object; see {@linkcode spliceJson}. */
export interface JsonEdits {
  /** New values by name, written as `JSON.stringify` does. A value that cannot be serialised removes the member. */
  readonly set?: Readonly<Record<string, unknown>>;
  /** Names to remove. A missing name is ignored. */
  readonly remove?: readonly string[];
}

/** The maximum number of members of the top-level object. */
const MAX_MEMBERS = 10_000;

const QUOTE = 0x22;
const COMMA = 0x2c;
const COLON = 0x3a;
const OPEN_OBJECT = 0x7b;
const OPEN_LIST = 0x5b;
const CLOSE_OBJECT = 0x7d;
const CLOSE_LIST = 0x5d;

/**
 * Scans a JSON text in one pass. It does not validate the syntax. `JSON.parse` does, and both see the same strings and
 * brackets up to the first error.
 *
 * @param bytes UTF-8 without a byte order mark.
 * @throws {RangeError} If the top-level object has more than {@linkcode MAX_MEMBERS} members.
 */
export function scanJson(bytes: Uint8Array): JsonScan {
  const scan = new Scan(bytes);
  startIndex();
  for (let from = 0; from < bytes.length; from += INDEX_PIECE_BYTES) {
    const count = indexPiece(bytes, from);
    if (!scan.isOver) scan.take(count);
  }
  scan.isAscii = isIndexedAscii();
  if (hasInvalidString()) scan.longStrings.length = 0;
  return scan;
}

/**
 * Replaces, removes and adds members of the top-level object. New members are appended; all other bytes stay unchanged.
 * Long ranges of them are views of `bytes` in the result, not copies.
 *
 * @param bytes The scanned text.
 * @param scan The outline of a complete object without repeated names.
 * @param edits If a name is both set and removed, it is set.
 * @throws {RangeError} If the text is not such an object.
 */
export function spliceJson(bytes: Uint8Array<ArrayBuffer>, scan: JsonScan, edits: JsonEdits): ByteParts {
  if (scan.objectEnd < 0 || scan.duplicate !== null) {
    throw new RangeError("Cannot edit a text that is not a JSON object");
  }
  return withCuts(bytes, cutsOf(scan, newValuesOf(edits.set ?? {}), edits.remove ?? []));
}

/** A new value of a member. */
interface NewValue {
  readonly key: string;
  /** The value as JSON; null removes the member. */
  readonly text: string | null;
  /** Whether the object has the member. */
  isFound: boolean;
}

function newValuesOf(set: Readonly<Record<string, unknown>>): NewValue[] {
  const values: NewValue[] = [];
  for (const key of Object.keys(set)) {
    const text: string | undefined = JSON.stringify(set[key]);
    values.push({ key, text: text ?? null, isFound: false });
  }
  return values;
}

/** Returns the cuts in offset order. Edits are few, so linear searches are cheaper than a map and a set. */
function cutsOf({ members, objectEnd }: JsonScan, values: readonly NewValue[], removed: readonly string[]): Cut[] {
  const cuts: Cut[] = [];
  let kept: JsonMember | null = null;
  let firstRemoved: JsonMember | null = null;
  for (const member of members) {
    const value = valueOf(values, member.key);
    if (value === null ? removed.includes(member.key) : value.text === null) {
      firstRemoved ??= member;
      continue;
    }
    // A removed member takes the following comma with it. The last members of the object take the preceding comma.
    if (firstRemoved !== null) cuts.push({ start: firstRemoved.keyStart, end: member.keyStart, text: "" });
    firstRemoved = null;
    if (value !== null) {
      value.isFound = true;
      cuts.push({ start: member.valueStart, end: member.valueEnd, text: value.text ?? "" });
    }
    kept = member;
  }
  const text = additionOf(values, kept !== null);
  const last = members.at(-1);
  if (firstRemoved !== null && last !== undefined) {
    cuts.push({ start: kept === null ? firstRemoved.keyStart : kept.valueEnd, end: last.valueEnd, text });
  } else if (text !== "") {
    const end = kept === null ? objectEnd : kept.valueEnd;
    cuts.push({ start: end, end, text });
  }
  return cuts;
}

function valueOf(values: readonly NewValue[], key: string): NewValue | null {
  for (const value of values) if (value.key === key) return value;
  return null;
}

/** Returns the members to append. */
function additionOf(values: readonly NewValue[], followsAnother: boolean): string {
  let addition = "";
  for (const { key, text, isFound } of values) {
    if (text === null || isFound) continue;
    addition += `${addition !== "" || followsAnother ? "," : ""}${JSON.stringify(key)}:${text}`;
  }
  return addition;
}

/** A scan in progress, which becomes its result. */
class Scan implements JsonScan {
  depth = 0;
  containers = 0;
  memberCount = 0;
  valueCount = 0;
  objectEnd = -1;
  duplicate: string | null = null;
  isAscii = true;
  readonly members: JsonMember[] = [];
  readonly longStrings: number[] = [];
  /** Whether the top-level value has ended, or a repeated name was found. */
  isOver = false;
  readonly #bytes: Uint8Array;
  readonly #isObject: boolean;
  #level = 0;
  /** The quote that opens the current string; -1 outside strings. */
  #opening = -1;
  /** The opening quote of the last string. */
  #stringStart = -1;
  /** Whether the current string has one of the indexed escapes. */
  #hasEscape = false;
  /** The opening quote of the name before the last colon, and whether nothing was found since that colon. */
  #nameStart = -1;
  #isAfterColon = false;
  /** The current top-level member. */
  #keyStart = -1;
  #key = "";
  #valueStart = -1;
  #names: Set<string> | null = null;

  constructor(bytes: Uint8Array) {
    this.#bytes = bytes;
    this.#isObject = bytes[skipSpace(bytes, 0)] === OPEN_OBJECT;
  }

  /** Continues with the next indexed offsets. */
  take(count: number): void {
    const bytes = this.#bytes;
    for (let next = 0; next < count; next++) {
      const at = indexedOffsets[next] ?? 0;
      switch (bytes[at]) {
        case QUOTE:
          if (this.#opening < 0) this.#opening = at;
          else this.#onString(at);
          break;
        case COLON:
          this.memberCount++;
          this.#nameStart = this.#stringStart;
          this.#isAfterColon = true;
          if (this.#level === 1 && this.#valueStart < 0) this.#valueStart = skipSpace(bytes, at + 1);
          break;
        case COMMA:
          this.valueCount++;
          this.#isAfterColon = false;
          if (this.#level === 1) this.#onMemberEnd(at);
          break;
        case OPEN_OBJECT:
        case OPEN_LIST:
          this.containers++;
          this.valueCount++;
          this.#isAfterColon = false;
          if (++this.#level > this.depth) this.depth = this.#level;
          break;
        case CLOSE_OBJECT:
        case CLOSE_LIST:
          this.#isAfterColon = false;
          if (--this.#level <= 0) this.#onEnd(at);
          break;
        default:
          this.#hasEscape = true;
      }
      if (this.isOver) return;
    }
  }

  #onString(end: number): void {
    const start = this.#opening;
    this.#stringStart = start;
    this.#opening = -1;
    if (this.#isAfterColon) {
      if (end - start > LONG_STRING_BYTES && !this.#hasEscape) this.longStrings.push(this.#nameStart, start, end + 1);
    } else if (this.#level === 1 && this.#keyStart < 0) this.#onName(start, end);
    this.#hasEscape = false;
  }

  #onName(start: number, end: number): void {
    this.#keyStart = start;
    this.#key = readName(this.#bytes, start, end);
    if (!this.#isObject || !this.#isRepeated(this.#key)) return;
    this.duplicate = this.#key;
    this.isOver = true;
  }

  #isRepeated(name: string): boolean {
    if (this.#names !== null) {
      if (this.#names.has(name)) return true;
      this.#names.add(name);
      return false;
    }
    // Objects in requests have about a dozen members, so a linear search is cheaper than a set.
    for (const member of this.members) if (member.key === name) return true;
    if (this.members.length >= 16) this.#names = new Set([...this.members.map((member) => member.key), name]);
    return false;
  }

  #onMemberEnd(at: number): void {
    if (this.#isObject && this.#keyStart >= 0 && this.#valueStart >= 0) {
      if (this.members.length === MAX_MEMBERS) throw new RangeError(`Cannot read more than ${MAX_MEMBERS} members`);
      this.members.push({
        key: this.#key,
        keyStart: this.#keyStart,
        valueStart: this.#valueStart,
        valueEnd: trimSpace(this.#bytes, at),
      });
    }
    this.#keyStart = this.#valueStart = -1;
  }

  #onEnd(at: number): void {
    this.#onMemberEnd(at);
    if (this.#isObject) this.objectEnd = at;
    this.isOver = true;
  }
}

function skipSpace(bytes: Uint8Array, start: number): number {
  let at = start;
  while (isSpace(bytes[at])) at++;
  return at;
}

function trimSpace(bytes: Uint8Array, end: number): number {
  let at = end;
  while (isSpace(bytes[at - 1])) at--;
  return at;
}

function isSpace(byte: number | undefined): boolean {
  return byte === 0x20 || byte === 0x0a || byte === 0x0d || byte === 0x09;
}

/** Whether a text is JSON. */
export function isJson(text: string): boolean {
  try {
    JSON.parse(text);
    return true;
  } catch {
    return false;
  }
}
