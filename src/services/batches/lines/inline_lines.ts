import { Buffer } from "node:buffer";
import { type JsonBody, jsonObjectOf } from "../../../platform/http/bodies/json_body.ts";
import { scanJson } from "../../../platform/lib/json/json.ts";
import { oneLine } from "./input_lines.ts";

const [QUOTE, BACKSLASH, COMMA] = [0x22, 0x5c, 0x2c];
const [OPEN_OBJECT, CLOSE_OBJECT, OPEN_LIST, CLOSE_LIST] = [0x7b, 0x7d, 0x5b, 0x5d];
const LINE_FEED = new Uint8Array([0x0a]);

/**
 * The requests in the body of a create as lines of a file. Their bytes stay as they were sent.
 *
 * @param model What requests without a model get; null for none.
 */
export async function* inlineLines({ bytes, scan }: JsonBody, model: string | null): AsyncGenerator<Uint8Array> {
  const list = memberOf({ bytes, scan }, "requests");
  if (list === null) return;
  for (const element of elementsOf(list)) {
    yield await Promise.resolve(model === null ? oneLine(element) : withModel(oneLine(element), model));
    yield LINE_FEED;
  }
}

/**
 * The elements of a list within objects as lines of a file. Their bytes stay as they were sent.
 *
 * @param path The names from the root to the list.
 */
export async function* nestedLines(json: JsonBody, path: readonly string[]): AsyncGenerator<Uint8Array> {
  let at: Pick<JsonBody, "bytes" | "scan"> = json;
  for (const name of path) {
    const bytes = memberOf(at, name);
    if (bytes === null) return;
    at = { bytes, scan: scanJson(bytes) };
  }
  for (const element of elementsOf(at.bytes)) {
    yield await Promise.resolve(oneLine(element));
    yield LINE_FEED;
  }
}

function memberOf({ bytes, scan }: Pick<JsonBody, "bytes" | "scan">, name: string): Uint8Array<ArrayBuffer> | null {
  const member = scan.members.find(({ key }) => key === name);
  return member === undefined ? null : bytes.subarray(member.valueStart, member.valueEnd);
}

/** Adds the model to a body without one. A request that cannot be read is refused later, with its number. */
function withModel(line: Uint8Array<ArrayBuffer>, model: string): Uint8Array {
  try {
    const { outline, scan } = jsonObjectOf(line);
    const { body } = outline;
    const member = scan.members.find(({ key }) => key === "body");
    if (member === undefined || typeof body !== "object" || body === null || Array.isArray(body) || "model" in body) {
      return line;
    }
    const rest = Object.keys(body).length === 0 ? "" : ",";
    const added = Buffer.from(`"model":${JSON.stringify(model)}${rest}`);
    const start = member.valueStart + 1;
    return Buffer.concat([line.subarray(0, start), added, line.subarray(start)]);
  } catch {
    return line;
  }
}

/** The elements of a JSON list, which is valid. */
function* elementsOf(list: Uint8Array<ArrayBuffer>): Generator<Uint8Array<ArrayBuffer>> {
  let depth = 0;
  let start = 1;
  for (let at = 0; at < list.length; at++) {
    const byte = list[at];
    if (byte === QUOTE) at = endOfText(list, at);
    else if (byte === OPEN_OBJECT || byte === OPEN_LIST) depth++;
    else if (byte === CLOSE_OBJECT || byte === CLOSE_LIST) depth--;
    if ((byte === COMMA && depth === 1) || depth === 0) {
      yield list.subarray(start, at);
      start = at + 1;
    }
    if (depth === 0) return;
  }
}

/** The place of the quote that ends a text. */
function endOfText(bytes: Uint8Array, start: number): number {
  for (let at = start + 1; at < bytes.length; at++) {
    if (bytes[at] === BACKSLASH) at++;
    else if (bytes[at] === QUOTE) return at;
  }
  return bytes.length;
}
