import { GatewayError, invalidField } from "../../../platform/lib/basics/gateway_error.ts";
import { type JsonBody, jsonObjectOf } from "../../../platform/http/bodies/json_body.ts";
import { concatBytes } from "../../../platform/lib/bytes/concat_bytes.ts";
import type { Money } from "../../../platform/lib/basics/money.ts";
import { BATCH_LIMITS, type BegunLines } from "../records/batch.ts";
import type { BatchRoute } from "./line_runner.ts";
import { splitLines } from "./split_lines.ts";

/** A line of an input file. */
export interface InputLine {
  readonly customId: string;
  /** The JSON object of the request as it was sent. */
  readonly body: Uint8Array<ArrayBuffer>;
  /** The model that it names; empty for none. */
  readonly model: string;
}

/** A line with what its run needs, as it is stored. */
export interface StoredLine extends Pick<InputLine, "customId" | "body"> {
  /** From 1. */
  readonly number: number;
  /** The part of the hold that is for it. */
  readonly part: Money;
  /** Whose batches it is sent in; null for a line that the gateway runs. */
  readonly route: BatchRoute | null;
}

const encoder = new TextEncoder();
const LINE_FEED = 0x0a;
const LINE_END = Uint8Array.of(LINE_FEED);
const TAB = 0x09;
const SPACE = 0x20;
const CARRIAGE_RETURN = 0x0d;

/**
 * Cuts chunks into lines, without their ends. Each line is a copy.
 *
 * @param maxBytes The maximum size of a line.
 * @throws {GatewayError} `request_too_large`.
 */
export async function* linesOf(
  chunks: AsyncIterable<Uint8Array>,
  maxBytes: number,
): AsyncGenerator<Uint8Array<ArrayBuffer>> {
  for await (const line of splitLines(chunks, maxBytes)) {
    if (line === null) {
      throw new GatewayError("request_too_large", `Cannot read a line this long: expected at most ${maxBytes} bytes`);
    }
    yield line[line.length - 1] === CARRIAGE_RETURN ? line.subarray(0, -1) : line;
  }
}

/**
 * Reads a line of OpenAI's format: `{"custom_id", "method": "POST", "url", "body"}`.
 *
 * @throws {GatewayError} `invalid_request`, naming the field.
 */
export function readInputLine(sent: Uint8Array<ArrayBuffer>, endpoint: string): InputLine {
  const { outline, bytes, scan } = jsonObjectOf(sent);
  const { custom_id: customId, method = "POST", url = endpoint, body } = outline;
  const { customIdCharacters: max } = BATCH_LIMITS;
  if (typeof customId !== "string" || customId === "" || customId.length > max) {
    throw invalidField("custom_id", `expected text of 1 to ${max} characters${gotNothing(customId)}`);
  }
  if (method !== "POST") throw invalidField("method", 'expected "POST"');
  if (url !== endpoint) throw invalidField("url", `expected the endpoint of the batch, "${endpoint}"`);
  const { stream, background, model } = requestIn(body, "body");
  if (stream === true) throw invalidField("body.stream", "expected no stream in a batch");
  if (background === true) throw invalidField("body.background", "expected no background request in a batch");
  return { customId, body: valueOf({ bytes, scan }, "body"), model: typeof model === "string" ? model : "" };
}

/** What lines of any format must not have, and their model. */
interface LineFacts {
  readonly stream?: unknown;
  readonly background?: unknown;
  readonly model?: unknown;
}

/** The request of a line. @throws {GatewayError} `invalid_request`, naming the member. */
export function requestIn(value: unknown, member: string): LineFacts {
  if (typeof value === "object" && value !== null && !Array.isArray(value)) return value;
  throw invalidField(member, `expected an object${gotNothing(value)}`);
}

/** The end of a message about a member that is missing, which often means that a line is a request itself. */
function gotNothing(value: unknown): string {
  return value === undefined ? ", got nothing" : "";
}

/** The bytes of a member of a line, as they were sent. */
export function valueOf({ bytes, scan }: Pick<JsonBody, "bytes" | "scan">, member: string): Uint8Array<ArrayBuffer> {
  const found = scan.members.find(({ key }) => key === member);
  if (found === undefined) throw invalidField(member, "expected an object");
  return bytes.slice(found.valueStart, found.valueEnd);
}

/** JSON on one line; the same bytes if it is. Line feeds are white space in JSON, and none are within its texts. */
export function oneLine(json: Uint8Array<ArrayBuffer>): Uint8Array<ArrayBuffer> {
  if (!json.includes(LINE_FEED) && !json.includes(CARRIAGE_RETURN)) return json;
  return json.map((byte) => byte === LINE_FEED || byte === CARRIAGE_RETURN ? SPACE : byte);
}

/** Writes a line for the run. The body stays as it was sent: numbers keep their digits. */
export function writeStoredLine({ part, customId, route, body }: Omit<StoredLine, "number">): Uint8Array<ArrayBuffer> {
  const head = `${part}\t${JSON.stringify(customId)}\t${JSON.stringify(route)}\t`;
  return concatBytes([encoder.encode(head), oneLine(body), LINE_END]);
}

/** Reads lines that {@linkcode writeStoredLine} wrote. */
export async function* storedLines(chunks: AsyncIterable<Uint8Array>): AsyncGenerator<StoredLine> {
  let number = 0;
  for await (const line of linesOf(chunks, Infinity)) yield readStoredLine(line, ++number);
}

/** Reads stored lines after the first ones, each with the bytes of all lines up to its end. */
export async function* placedLines(
  chunks: AsyncIterable<Uint8Array>,
  { lines, bytes }: BegunLines,
): AsyncGenerator<{ readonly line: StoredLine; readonly end: number }> {
  let number = lines;
  let end = bytes;
  for await (const line of linesOf(chunks, Infinity)) {
    end += line.length + 1;
    yield { line: readStoredLine(line, ++number), end };
  }
}

/** Reads a line that {@linkcode writeStoredLine} wrote. */
export function readStoredLine(line: Uint8Array<ArrayBuffer>, number: number): StoredLine {
  const first = line.indexOf(TAB);
  const second = line.indexOf(TAB, first + 1);
  const third = line.indexOf(TAB, second + 1);
  const textOf = (start: number, end: number) => new TextDecoder().decode(line.subarray(start, end));
  return {
    number,
    part: BigInt(textOf(0, first)),
    customId: String(JSON.parse(textOf(first + 1, second))),
    route: JSON.parse(textOf(second + 1, third)),
    body: line.slice(third + 1),
  };
}

/** Where each stored line is in its content, so that lines can be read in any order. */
export class LineIndex {
  private constructor(private readonly starts: readonly number[], private readonly end: number) {}

  /** Reads the places of all lines. */
  static async of(chunks: AsyncIterable<Uint8Array>): Promise<LineIndex> {
    const starts: number[] = [];
    let end = 0;
    let start = 0;
    for await (const chunk of chunks) {
      for (let at = chunk.indexOf(LINE_FEED); at >= 0; at = chunk.indexOf(LINE_FEED, at + 1)) {
        starts.push(start);
        start = end + at + 1;
      }
      end += chunk.length;
    }
    return new LineIndex(starts, end);
  }

  /** The first and the last byte of a line, without its line feed; null if there is no such line. */
  placeOf(number: number): { readonly first: number; readonly last: number } | null {
    const first = this.starts[number - 1];
    return first === undefined ? null : { first, last: (this.starts[number] ?? this.end) - 2 };
  }
}
