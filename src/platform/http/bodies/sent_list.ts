import { GatewayError } from "../../lib/basics/gateway_error.ts";
import { scanJson } from "../../lib/json/json.ts";
import type { JsonObject } from "../../lib/json/json_object.ts";
import { NEW_NAME_VALUES } from "../../lib/json/json_values.ts";
import type { JsonBody } from "./json_body.ts";

/** The names from the root of a body to a list. */
export type ListPath = readonly string[];

/** The elements of a list as they were sent. None of them is parsed. */
export class SentList implements Iterable<Uint8Array<ArrayBuffer>> {
  /**
   * @param bytes The body.
   * @param ranges Where each element begins and ends, one after the other.
   */
  constructor(readonly bytes: Uint8Array<ArrayBuffer>, readonly ranges: Uint32Array) {}

  /** The number of elements. */
  get length(): number {
    return this.ranges.length / 2;
  }

  *[Symbol.iterator](): Generator<Uint8Array<ArrayBuffer>> {
    for (let at = 0; at < this.ranges.length; at += 2) yield this.bytes.subarray(this.ranges[at], this.ranges[at + 1]);
  }
}

/** A body whose list was taken out. */
export interface BodyWithoutList {
  /** The body with an empty list in its place. */
  readonly body: JsonObject;
  /** See {@linkcode SentList.ranges}; null if there is no list at any of the paths. */
  readonly ranges: Uint32Array<ArrayBuffer> | null;
}

/**
 * The most values around a list, where a named one counts as 41. They are read by the thread that answers others, and a
 * few names and texts belong there.
 */
const MAX_OTHER_VALUES = 10_000;

/**
 * Takes the first list that is at one of the paths out of a body.
 *
 * @throws {GatewayError} `invalid_request` if too much is around it.
 */
export function takeList({ outline, bytes, scan }: JsonBody, paths: readonly ListPath[]): BodyWithoutList {
  const path = paths.find((each) => listAt(outline, each) !== null) ?? [];
  const list = listAt(outline, path);
  const count = list?.length ?? 0;
  if (list !== null) list.length = 0;
  const { valueCount, memberCount } = scanJson(new TextEncoder().encode(JSON.stringify(outline)));
  if (valueCount + memberCount * NEW_NAME_VALUES > MAX_OTHER_VALUES) {
    const expected =
      `at most ${MAX_OTHER_VALUES} JSON values around the list of requests, where a named one counts as ${
        NEW_NAME_VALUES + 1
      }`;
    throw new GatewayError("invalid_request", `Cannot read the body: expected ${expected}`);
  }
  if (list === null) return { body: outline, ranges: null };
  return { body: outline, ranges: count === 0 ? new Uint32Array() : rangesIn(bytes, { bytes, scan }, path) };
}

/** The list at a path; null if there is none. */
function listAt(body: JsonObject, path: ListPath): unknown[] | null {
  let value: unknown = body;
  for (const name of path) {
    if (typeof value !== "object" || value === null || !Object.hasOwn(value, name)) return null;
    value = Reflect.get(value, name);
  }
  return Array.isArray(value) ? value : null;
}

/** The ranges of the elements of the list at a path, in the whole body. */
function rangesIn(
  whole: Uint8Array<ArrayBuffer>,
  { bytes, scan }: Pick<JsonBody, "bytes" | "scan">,
  [name, ...rest]: ListPath,
): Uint32Array<ArrayBuffer> | null {
  const member = scan.members.find(({ key }) => key === name);
  if (member === undefined) return null;
  const value = bytes.subarray(member.valueStart, member.valueEnd);
  if (rest.length > 0) return rangesIn(whole, { bytes: value, scan: scanJson(value) }, rest);
  return elementRanges(value, value.byteOffset - whole.byteOffset);
}

const [QUOTE, BACKSLASH, COMMA] = [0x22, 0x5c, 0x2c];
const [OPEN_OBJECT, CLOSE_OBJECT, OPEN_LIST, CLOSE_LIST] = [0x7b, 0x7d, 0x5b, 0x5d];

/** Where the elements of a JSON list are, which is valid. @param offset Of the list. */
function elementRanges(list: Uint8Array, offset: number): Uint32Array<ArrayBuffer> {
  const ranges: number[] = [];
  let depth = 0;
  let start = 1;
  for (let at = 0; at < list.length; at++) {
    const byte = list[at];
    if (byte === QUOTE) at = endOfText(list, at);
    else if (byte === OPEN_OBJECT || byte === OPEN_LIST) depth++;
    else if (byte === CLOSE_OBJECT || byte === CLOSE_LIST) depth--;
    if ((byte === COMMA && depth === 1) || depth === 0) {
      ranges.push(offset + start, offset + at);
      start = at + 1;
    }
    if (depth === 0) break;
  }
  return new Uint32Array(ranges);
}

/** The place of the quote that ends a text. */
function endOfText(bytes: Uint8Array, start: number): number {
  for (let at = start + 1; at < bytes.length; at++) {
    if (bytes[at] === BACKSLASH) at++;
    else if (bytes[at] === QUOTE) return at;
  }
  return bytes.length;
}
