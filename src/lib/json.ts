import { Buffer } from "node:buffer";
import { type Cut, withCuts } from "./json_cuts.ts";

/**
 * What must be known of a JSON text besides its value: how deep it is, whether a member of the top object comes twice,
 * and where each member stands, so that one can be replaced or removed while every other byte stays as it was sent.
 */

/** One member of the top object. All offsets are in bytes from the start of the text. */
export interface JsonMember {
  /** The name, escapes undone. */
  readonly key: string;
  /** Of the quote that opens the name. */
  readonly keyStart: number;
  /** Of the first byte of the value. */
  readonly valueStart: number;
  /** Just after the last byte of the value. */
  readonly valueEnd: number;
}

/** The outline of a JSON text. True for texts that `JSON.parse` accepts; of others it says no more than was seen. */
export interface JsonScan {
  /** How many objects and lists stand inside one another at most; 0 for a bare string or number. */
  readonly depth: number;
  /** How many objects and lists there are; what a parser makes of each costs more memory than its text. */
  readonly containers: number;
  /** The members of the top object in their order; empty when the text is no object. */
  readonly members: readonly JsonMember[];
  /** The first name that comes twice in the top object, null if none does. The scan ends there. */
  readonly duplicate: string | null;
  /** The offset of the brace that closes the top object; -1 when the text is no whole object. */
  readonly objectEnd: number;
  /** How many members all objects of a whole object have together, at any depth, doubled names counted twice. */
  readonly memberCount: number;
}

/** Changes to the top object; see {@linkcode spliceJson}. */
export interface JsonEdits {
  /** New values by name, written as `JSON.stringify` does; a value it cannot write removes the member. */
  readonly set?: Readonly<Record<string, unknown>>;
  /** Names to take out; a name that is not there is no mistake. */
  readonly remove?: readonly string[];
}

/** The most members that a top object may have. */
export const MAX_MEMBERS = 10_000;

const QUOTE = 0x22;
const BACKSLASH = 0x5c;
const COMMA = 0x2c;
const COLON = 0x3a;

/** What a byte outside of strings can mean to the scan; all others mean nothing. */
const OPENS = 1, CLOSES = 2, QUOTES = 3, SEPARATES = 4;
const MEANING = new Uint8Array(256);
MEANING[0x7b] = MEANING[0x5b] = OPENS;
MEANING[0x7d] = MEANING[0x5d] = CLOSES;
MEANING[QUOTE] = QUOTES;
MEANING[COMMA] = MEANING[COLON] = SEPARATES;

/**
 * Reads the outline of a JSON text in one pass. It checks no syntax: `JSON.parse` does, and sees the same strings and
 * brackets up to the first mistake.
 *
 * @param bytes UTF-8 without a byte order mark.
 * @throws {RangeError} If the top object has more than {@linkcode MAX_MEMBERS} members.
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
 * Replaces, removes and adds members of the top object. New members come last; all other bytes stay as they are.
 *
 * @param bytes The text that was scanned.
 * @param scan Its outline: of a whole object without a doubled name.
 * @param edits A name that is both set and removed is set.
 * @throws {RangeError} If the text is no such object.
 */
export function spliceJson(bytes: Uint8Array, scan: JsonScan, edits: JsonEdits): Uint8Array<ArrayBuffer> {
  if (scan.objectEnd < 0 || scan.duplicate !== null) throw new RangeError("Cannot edit a text that is no JSON object");
  const removed = new Set(edits.remove);
  const values = new Map<string, string>();
  for (const [key, value] of Object.entries(edits.set ?? {})) {
    const text: string | undefined = JSON.stringify(value);
    if (text === undefined) removed.add(key);
    else values.set(key, text);
  }
  return withCuts(bytes, cutsOf(scan, values, removed));
}

/** The cuts in the order of their offsets. Takes the values that found their member out of `values`. */
function cutsOf({ members, objectEnd }: JsonScan, values: Map<string, string>, removed: Set<string>): Cut[] {
  const cuts: Cut[] = [];
  const isRemoved = (member: JsonMember) => removed.has(member.key) && !values.has(member.key);
  let kept: JsonMember | null = null;
  for (let index = 0; index < members.length; index++) {
    const member = members[index];
    if (!isRemoved(member)) {
      const text = values.get(member.key);
      if (text !== undefined) cuts.push({ start: member.valueStart, end: member.valueEnd, text });
      values.delete(member.key);
      kept = member;
      continue;
    }
    while (index + 1 < members.length && isRemoved(members[index + 1])) index++;
    // Removed members take the comma after them along; the last ones of the object take the comma before them.
    const next = members[index + 1];
    if (next !== undefined) cuts.push({ start: member.keyStart, end: next.keyStart, text: "" });
    else {
      const start = kept === null ? member.keyStart : kept.valueEnd;
      return [...cuts, { start, end: members[index].valueEnd, text: additionOf(values, kept !== null) }];
    }
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
    const meaning = MEANING[bytes[at]];
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
      if (bytes[at] === COLON) memberCount++;
    } else if (bytes[at] === COLON) {
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

/** The names of one object: read without an allocation each where they are short and plain, and watched for doubles. */
class MemberNames {
  #seen: Set<string> | null = null;

  read(bytes: Uint8Array, start: number, end: number): string {
    let name = "";
    for (let at = start + 1; at < end; at++) {
      const byte = bytes[at];
      if (byte === BACKSLASH || byte > 0x7f) return readQuoted(bytes, start, end);
      name += String.fromCharCode(byte);
    }
    return name;
  }

  sawTwice(name: string, before: readonly JsonMember[]): boolean {
    if (this.#seen === null) {
      // Objects of requests have a dozen members: a look at each is cheaper than a set.
      for (const member of before) if (member.key === name) return true;
      if (before.length >= 16) this.#seen = new Set([...before.map((member) => member.key), name]);
      return false;
    }
    if (this.#seen.has(name)) return true;
    this.#seen.add(name);
    return false;
  }
}

/** A string with escapes or beyond ASCII. What is malformed keeps its bytes: the parser will refuse the text. */
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
    const meaning = MEANING[bytes[at]];
    if (meaning === QUOTES) at = stringEnd(bytes, at);
    else if (meaning === OPENS) {
      containers++;
      if (++depth > deepest) deepest = depth;
    } else if (meaning === CLOSES && --depth <= 0) break;
  }
  return { depth: deepest, containers };
}

/** The offset of the quote that ends the string opened at `start`; the length of the text when none does. */
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
