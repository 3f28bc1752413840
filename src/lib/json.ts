import { Buffer } from "node:buffer";
import { type Cut, withCuts } from "./json_cuts.ts";

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
}

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
const BACKSLASH = 0x5c;
const COMMA = 0x2c;
const COLON = 0x3a;

/** Classes of bytes outside strings that the scan acts on. All other bytes are skipped. */
const OPENS = 1, CLOSES = 2, QUOTES = 3, SEPARATES = 4;
const MEANING = new Uint8Array(256);
MEANING[0x7b] = MEANING[0x5b] = OPENS;
MEANING[0x7d] = MEANING[0x5d] = CLOSES;
MEANING[QUOTE] = QUOTES;
MEANING[COMMA] = MEANING[COLON] = SEPARATES;

/**
 * Scans a JSON text in one pass. It does not validate the syntax. `JSON.parse` does, and both see the same strings and
 * brackets up to the first error.
 *
 * @param bytes UTF-8 without a byte order mark.
 * @throws {RangeError} If the top-level object has more than {@linkcode MAX_MEMBERS} members.
 */
export function scanJson(bytes: Uint8Array): JsonScan {
  const start = skipSpace(bytes, 0);
  return bytes[start] === 0x7b ? scanObject(bytes, start) : {
    ...nestingOf(bytes, start),
    members: [],
    duplicate: null,
    objectEnd: -1,
    memberCount: 0,
  };
}

/**
 * Replaces, removes and adds members of the top-level object. New members are appended; all other bytes stay unchanged.
 *
 * @param bytes The scanned text.
 * @param scan The outline of a complete object without repeated names.
 * @param edits If a name is both set and removed, it is set.
 * @throws {RangeError} If the text is not such an object.
 */
export function spliceJson(bytes: Uint8Array, scan: JsonScan, edits: JsonEdits): Uint8Array<ArrayBuffer> {
  if (scan.objectEnd < 0 || scan.duplicate !== null) {
    throw new RangeError("Cannot edit a text that is not a JSON object");
  }
  const removed = new Set(edits.remove);
  const values = new Map<string, string>();
  for (const [key, value] of Object.entries(edits.set ?? {})) {
    const text: string | undefined = JSON.stringify(value);
    if (text === undefined) removed.add(key);
    else values.set(key, text);
  }
  return withCuts(bytes, cutsOf(scan, values, removed));
}

/** Returns the cuts in offset order. Removes the values from `values` whose member exists. */
function cutsOf({ members, objectEnd }: JsonScan, values: Map<string, string>, removed: Set<string>): Cut[] {
  const cuts: Cut[] = [];
  const isRemoved = (member: JsonMember) => removed.has(member.key) && !values.has(member.key);
  let kept: JsonMember | null = null;
  let firstRemoved: JsonMember | null = null;
  for (const member of members) {
    if (isRemoved(member)) {
      firstRemoved ??= member;
      continue;
    }
    // A removed member takes the following comma with it. The last members of the object take the preceding comma.
    if (firstRemoved !== null) cuts.push({ start: firstRemoved.keyStart, end: member.keyStart, text: "" });
    firstRemoved = null;
    const text = values.get(member.key);
    if (text !== undefined) cuts.push({ start: member.valueStart, end: member.valueEnd, text });
    values.delete(member.key);
    kept = member;
  }
  const last = members.at(-1);
  if (firstRemoved !== null && last !== undefined) {
    const start = kept === null ? firstRemoved.keyStart : kept.valueEnd;
    return [...cuts, { start, end: last.valueEnd, text: additionOf(values, kept !== null) }];
  }
  const end = kept === null ? objectEnd : kept.valueEnd;
  return [...cuts, { start: end, end, text: additionOf(values, kept !== null) }];
}

function additionOf(values: ReadonlyMap<string, string>, followsAnother: boolean): string {
  if (values.size === 0) return "";
  const texts = Array.from(values, ([key, text]) => `${JSON.stringify(key)}:${text}`);
  return `${followsAnother ? "," : ""}${texts.join(",")}`;
}

function scanObject(bytes: Uint8Array, start: number): JsonScan {
  const members: JsonMember[] = [];
  const names = new MemberNames();
  let depth = 1;
  let deepest = 1;
  let containers = 1;
  let memberCount = 0;
  let keyStart = -1;
  let valueStart = -1;
  let key = "";
  for (let at = start + 1; at < bytes.length; at++) {
    const byte = bytes[at];
    if (byte === undefined) break;
    const meaning = MEANING[byte];
    if (meaning === 0) continue;
    if (meaning === QUOTES) {
      const end = stringEnd(bytes, at);
      if (depth === 1 && keyStart < 0) {
        keyStart = at;
        key = names.read(bytes, at, end);
        if (names.sawTwice(key, members)) {
          return { depth: deepest, containers, members, duplicate: key, objectEnd: -1, memberCount };
        }
      }
      at = end;
    } else if (meaning === OPENS) {
      containers++;
      if (++depth > deepest) deepest = depth;
    } else if (meaning === CLOSES && --depth > 0) {
      continue;
    } else if (depth > 1) {
      if (byte === COLON) memberCount++;
    } else if (byte === COLON) {
      memberCount++;
      if (valueStart < 0) valueStart = skipSpace(bytes, at + 1);
    } else {
      if (keyStart >= 0 && valueStart >= 0) {
        if (members.length === MAX_MEMBERS) throw new RangeError(`Cannot read more than ${MAX_MEMBERS} members`);
        members.push({ key, keyStart, valueStart, valueEnd: trimSpace(bytes, at) });
      }
      if (depth === 0) return { depth: deepest, containers, members, duplicate: null, objectEnd: at, memberCount };
      keyStart = valueStart = -1;
    }
  }
  return { depth: deepest, containers, members, duplicate: null, objectEnd: -1, memberCount };
}

/** The names of one object. Short plain names are compared without allocation; repeated names are detected. */
class MemberNames {
  #seen: Set<string> | null = null;

  read(bytes: Uint8Array, start: number, end: number): string {
    let name = "";
    for (let at = start + 1; at < end; at++) {
      const byte = bytes[at];
      if (byte === undefined || byte === BACKSLASH || byte > 0x7f) return readQuoted(bytes, start, end);
      name += String.fromCharCode(byte);
    }
    return name;
  }

  sawTwice(name: string, before: readonly JsonMember[]): boolean {
    if (this.#seen === null) {
      // Objects in requests have about a dozen members, so a linear search is cheaper than a set.
      for (const member of before) if (member.key === name) return true;
      if (before.length >= 16) this.#seen = new Set([...before.map((member) => member.key), name]);
      return false;
    }
    if (this.#seen.has(name)) return true;
    this.#seen.add(name);
    return false;
  }
}

/**
 * Decodes a string with escapes or non-ASCII characters. A malformed string keeps its bytes; the parser rejects the
 * text.
 */
function readQuoted(bytes: Uint8Array, start: number, end: number): string {
  const quoted = bytes.subarray(start, end + 1);
  const text = Buffer.from(quoted.buffer, quoted.byteOffset, quoted.length).toString();
  try {
    return JSON.parse(text);
  } catch {
    return text.slice(1, -1);
  }
}

function nestingOf(bytes: Uint8Array, start: number): Pick<JsonScan, "depth" | "containers"> {
  let depth = 0;
  let deepest = 0;
  let containers = 0;
  for (let at = start; at < bytes.length; at++) {
    const byte = bytes[at];
    if (byte === undefined) break;
    const meaning = MEANING[byte];
    if (meaning === QUOTES) at = stringEnd(bytes, at);
    else if (meaning === OPENS) {
      containers++;
      if (++depth > deepest) deepest = depth;
    } else if (meaning === CLOSES && --depth <= 0) break;
  }
  return { depth: deepest, containers };
}

/** The offset of the quote that ends the string opened at `start`; the length of the text if there is none. */
function stringEnd(bytes: Uint8Array, start: number): number {
  let at = start + 1;
  while (at < bytes.length) {
    const byte = bytes[at];
    if (byte === QUOTE) return at;
    at += byte === BACKSLASH ? 2 : 1;
  }
  return bytes.length;
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
