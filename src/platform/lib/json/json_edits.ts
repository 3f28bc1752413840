import { appendAll } from "../collections/append_all.ts";
import { type Cut, withCuts } from "./json_cuts.ts";

/** A change at any depth of a JSON text. */
export interface JsonEdit {
  /** Keys and indexes from the root to the value. */
  readonly path: readonly (string | number)[];
  /**
   * The new value, written as `JSON.stringify` does, or a {@linkcode JsonRewrite}. Undefined removes the member or
   * element.
   */
  readonly value: unknown;
  /** The new name of the member, for one that is given a value. Default: as it is. */
  readonly name?: string;
}

/** A change of a value's JSON text that keeps what parsing would lose, such as the digits of long numbers. */
export class JsonRewrite {
  /** @param rewrite Returns the new JSON text of the value. */
  constructor(readonly rewrite: (json: string) => string) {}
}

/**
 * Edits single values of a JSON text; all other bytes stay unchanged. For a repeated name the last member counts, as in
 * `JSON.parse`. A path that does not exist changes nothing. Neither does an edit inside a value that another edit
 * replaces.
 *
 * @param bytes UTF-8 that `JSON.parse` accepts.
 */
export function editJson(bytes: Uint8Array<ArrayBuffer>, edits: readonly JsonEdit[]): Uint8Array<ArrayBuffer> {
  if (edits.length === 0) return bytes;
  const cuts: Cut[] = [];
  addCuts(bytes, skipSpace(bytes, 0), edits.map((edit) => ({ ...edit, at: 0 })), cuts);
  return withCuts(bytes, cuts).joined();
}

/** An edit during the descent; the first `at` steps of its path are done. */
interface Step extends JsonEdit {
  readonly at: number;
}

/** A member or an element: the start including its name, and the range of its value. */
interface Child {
  readonly key: string | number;
  readonly start: number;
  readonly valueStart: number;
  readonly end: number;
}

function addCuts(bytes: Uint8Array, start: number, steps: readonly Step[], cuts: Cut[]): void {
  const byKey = new Map<string | number, Step[]>();
  for (const step of steps) {
    const key = step.path[step.at];
    if (key === undefined) continue;
    byKey.set(key, [...byKey.get(key) ?? [], step]);
  }
  const children = childrenOf(bytes, start);
  const places = new Map(children.map((child, index) => [child.key, { child, index }]));
  const removed = new Set<number>();
  const inner: [Child, readonly Step[]][] = [];
  for (const [key, deeper] of byKey) {
    const place = places.get(key);
    if (place === undefined) continue;
    const here = deeper.find(({ path, at }) => path.length === at + 1);
    if (here !== undefined && here.value === undefined) removed.add(place.index);
    else inner.push([place.child, here === undefined ? deeper : [here]]);
  }
  const own: Cut[] = [...removalsOf(children, removed)];
  for (const [{ start, valueStart, end }, deeper] of inner) {
    const here = deeper.find(({ path, at }) => path.length === at + 1);
    if (here !== undefined) {
      const text = newText(here.value, bytes, valueStart, end);
      own.push(
        here.name === undefined
          ? { start: valueStart, end, text }
          : { start, end, text: `${JSON.stringify(here.name)}:${text}` },
      );
    } else addCuts(bytes, valueStart, deeper.map((step) => ({ ...step, at: step.at + 1 })), own);
  }
  appendAll(cuts, own.sort((a, b) => a.start - b.start));
}

function newText(value: unknown, bytes: Uint8Array, start: number, end: number): string {
  return value instanceof JsonRewrite
    ? value.rewrite(DECODER.decode(bytes.subarray(start, end)))
    : JSON.stringify(value);
}

/** A removed child takes the following comma with it. The last children take the preceding comma. */
function removalsOf(children: readonly Child[], removed: ReadonlySet<number>): Cut[] {
  const cuts: Cut[] = [];
  let kept: Child | null = null;
  let firstRemoved: Child | null = null;
  for (const [index, child] of children.entries()) {
    if (removed.has(index)) {
      firstRemoved ??= child;
      continue;
    }
    if (firstRemoved !== null) cuts.push({ start: firstRemoved.start, end: child.start, text: "" });
    firstRemoved = null;
    kept = child;
  }
  const last = children.at(-1);
  if (firstRemoved !== null && last !== undefined) {
    cuts.push({ start: kept === null ? firstRemoved.start : kept.end, end: last.end, text: "" });
  }
  return cuts;
}

const QUOTE = 0x22;
const BACKSLASH = 0x5c;
const COMMA = 0x2c;
const COLON = 0x3a;
const OPEN_OBJECT = 0x7b;
const OPEN_LIST = 0x5b;

/** The members or elements of the value that starts at `start`; empty if it is neither an object nor an array. */
function childrenOf(bytes: Uint8Array, start: number): Child[] {
  const isObject = bytes[start] === OPEN_OBJECT;
  if (!isObject && bytes[start] !== OPEN_LIST) return [];
  const children: Child[] = [];
  let at = skipSpace(bytes, start + 1);
  while (at < bytes.length && bytes[at] !== OPEN_OBJECT + 2 && bytes[at] !== OPEN_LIST + 2) {
    const begin = at;
    let key: string | number = children.length;
    if (isObject) {
      const nameEnd = stringEnd(bytes, at);
      key = JSON.parse(DECODER.decode(bytes.subarray(at, nameEnd))) as string;
      at = skipSpace(bytes, skipSpace(bytes, nameEnd) + 1);
    }
    const valueStart = at;
    const end = valueEnd(bytes, at);
    children.push({ key, start: begin, valueStart, end });
    at = skipSpace(bytes, end);
    if (bytes[at] === COMMA) at = skipSpace(bytes, at + 1);
  }
  return children;
}

const DECODER = new TextDecoder();

/** The offset just after the value that starts at `start`. */
function valueEnd(bytes: Uint8Array, start: number): number {
  let depth = 0;
  for (let at = start; at < bytes.length; at++) {
    const byte = bytes[at];
    if (byte === QUOTE) {
      at = stringEnd(bytes, at) - 1;
      if (depth === 0) return at + 1;
    } else if (byte === OPEN_OBJECT || byte === OPEN_LIST) depth++;
    else if (byte === OPEN_OBJECT + 2 || byte === OPEN_LIST + 2) {
      if (depth === 0) return at; // a number or literal, followed by the end of its container
      if (--depth === 0) return at + 1;
    } else if (depth === 0 && (byte === COMMA || byte === COLON || isSpace(byte))) return at;
  }
  return bytes.length;
}

/** The offset just after the closing quote of the string that starts at `start`. */
function stringEnd(bytes: Uint8Array, start: number): number {
  let at = bytes.indexOf(QUOTE, start + 1);
  while (at !== -1) {
    let before = at - 1;
    while (bytes[before] === BACKSLASH) before--;
    if ((at - before) % 2 === 1) return at + 1;
    at = bytes.indexOf(QUOTE, at + 1);
  }
  return bytes.length;
}

function isSpace(byte: number | undefined): boolean {
  return byte === 0x20 || byte === 0x0a || byte === 0x0d || byte === 0x09;
}

function skipSpace(bytes: Uint8Array, start: number): number {
  let at = start;
  while (isSpace(bytes[at])) at++;
  return at;
}
