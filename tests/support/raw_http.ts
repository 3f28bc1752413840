import { atLeast, itemAt } from "./items.ts";

/** One response as it was on the wire. */
export interface RawAnswer {
  readonly status: number;
  /** Headers by lower-case name; equal names joined with a comma. */
  readonly headers: Headers;
  readonly body: string;
}

/** The responses on one connection. */
export interface RawExchange {
  readonly answers: readonly RawAnswer[];
  /** All that was received; every character is one byte. */
  readonly text: string;
  /** True when the server closed the connection, after complete responses or not. */
  readonly closed: boolean;
}

/** When the exchange ends. */
export interface RawExpectation {
  /** How many complete responses end the exchange. Default 1. */
  readonly answers?: number;
  /** Waits until the server closes the connection. */
  readonly untilClosed?: boolean;
  /** The requests are HEAD: responses end with their head. */
  readonly headOnly?: boolean;
  /** Called after the request is written, before the response is read. */
  readonly onWritten?: () => unknown;
}

/**
 * Writes bytes to a server on loopback and reads its response: for requests that no client library sends.
 *
 * @param request Sent unchanged; every character is one byte.
 */
export async function rawExchange(
  port: number,
  request: string,
  expected: RawExpectation = {},
): Promise<RawExchange> {
  const connection = await Deno.connect({ hostname: "127.0.0.1", port });
  try {
    await writeAll(connection, Uint8Array.from(request, (sign) => sign.charCodeAt(0)));
    await expected.onWritten?.();
    return await readAnswers(connection, expected);
  } finally {
    connection.close();
  }
}

/** Returns the first response to these bytes; fails without one. The arguments are those of {@link rawExchange}. */
export async function rawAnswer(port: number, request: string, expected: RawExpectation = {}): Promise<RawAnswer> {
  return itemAt((await rawExchange(port, request, expected)).answers, 0);
}

async function writeAll(connection: Deno.Conn, bytes: Uint8Array): Promise<void> {
  try {
    for (let sent = 0; sent < bytes.length;) sent += await connection.write(bytes.subarray(sent));
  } catch (error) {
    if (!isEnd(error)) throw error; // rejected before all was sent: the response may still be there
  }
}

/** Reads the responses on a connection. */
export async function readAnswers(connection: Deno.Conn, expected: RawExpectation = {}): Promise<RawExchange> {
  const { answers: wanted = 1, untilClosed = false, headOnly = false } = expected;
  const chunk = new Uint8Array(65_536);
  let text = "";
  for (;;) {
    const answers = answersIn(text, headOnly);
    if (!untilClosed && answers.length >= wanted) return { answers, text, closed: false };
    const length = await connection.read(chunk).catch((error) => {
      if (!isEnd(error)) throw error;
      return null;
    });
    if (length === null) return { answers, text, closed: true };
    text += String.fromCharCode(...chunk.subarray(0, length));
  }
}

function isEnd(error: unknown): boolean {
  return error instanceof Deno.errors.ConnectionReset || error instanceof Deno.errors.BrokenPipe ||
    error instanceof Deno.errors.ConnectionAborted;
}

function answersIn(text: string, headOnly: boolean): RawAnswer[] {
  const answers: RawAnswer[] = [];
  let rest = text;
  for (;;) {
    const end = rest.indexOf("\r\n\r\n");
    if (end < 0) return answers;
    const [statusLine, ...lines] = atLeast(rest.slice(0, end).split("\r\n"), 1);
    const headers = new Headers(lines.map((line): [string, string] => {
      const colon = line.indexOf(":");
      return [line.slice(0, colon), line.slice(colon + 1).trim()];
    }));
    const status = Number(statusLine.split(" ")[1]);
    const body = headOnly || status === 204 || status < 200
      ? { text: "", length: 0 }
      : bodyIn(rest.slice(end + 4), headers);
    if (body === null) return answers;
    if (status >= 200) answers.push({ status, headers, body: body.text });
    rest = rest.slice(end + 4 + body.length);
  }
}

/** The body at the start of `text`; null when it is incomplete. For a chunked body, the received part is returned. */
function bodyIn(text: string, headers: Headers): { text: string; length: number } | null {
  const length = Number(headers.get("content-length") ?? 0);
  if (headers.get("transfer-encoding") === null) {
    return text.length < length ? null : { text: text.slice(0, length), length };
  }
  let at = 0;
  let body = "";
  for (;;) {
    const lineEnd = text.indexOf("\r\n", at);
    if (lineEnd < 0) return body === "" ? null : { text: body, length: text.length };
    const size = parseInt(text.slice(at, lineEnd), 16);
    if (size === 0) return { text: body, length: lineEnd + 4 };
    body += text.slice(lineEnd + 2, lineEnd + 2 + size);
    at = lineEnd + 2 + size + 2;
  }
}
