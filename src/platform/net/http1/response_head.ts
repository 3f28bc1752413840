/** How the end of a body is determined (RFC 9112, 6.3). */
export type Framing =
  | { readonly kind: "length"; readonly bytes: number }
  | { readonly kind: "chunked" }
  | { readonly kind: "until_close" };

/** The maximum size of a response head including earlier informational responses; more than any vendor sends. */
export const MAX_HEAD_BYTES = 65_536;

/**
 * A status line, field lines and an empty line, each ended by CR LF (RFC 9112, 4 and 5). Bare CR and LF, NUL and other
 * control characters, folded lines and spaces before a colon are rejected, since parsers disagree on them.
 */
const HEAD =
  /^HTTP\/1\.[01] [1-5]\d\d(?: [\t\x20-\x7e\x80-\xff]*)?\r\n(?:[!#$%&'*+.^_`|~0-9A-Za-z-]+:[\t\x20-\x7e\x80-\xff]*\r\n)*\r\n$/;

const LENGTH = /^\d{1,15}$/;

const NO_VALUES: readonly string[] = [];

/** The starts of the lines of fields that were searched for, by name: a dozen are searched in each response. */
const STARTS = new Map<string, string>();
/** More than the program has names of fields. */
const MAX_STARTS = 256;

function startOf(name: string): string {
  let start = STARTS.get(name);
  if (start === undefined) {
    start = `\r\n${name}:`;
    if (STARTS.size < MAX_STARTS) STARTS.set(name, start);
  }
  return start;
}

/** The status line and header fields of one response. */
export class ResponseHead {
  /** The status code, 100 to 599. */
  readonly status: number;
  readonly #isVersion11: boolean;
  readonly #text: string;
  /** In lower case, for searches of names. A field is read when it is needed: most fields never are. */
  readonly #lowerText: string;

  /**
   * Checks the syntax of every line.
   *
   * @param text Everything up to and including the empty line, as Latin-1.
   * @throws {TypeError} If the text is not a head of HTTP/1.0 or 1.1.
   */
  constructor(text: string) {
    if (!HEAD.test(text)) throw new TypeError("Cannot read a response head: expected a status line and header lines");
    this.status = Number(text.slice(9, 12));
    this.#isVersion11 = text.startsWith("HTTP/1.1");
    this.#text = text;
    this.#lowerText = text.toLowerCase();
  }

  /** The value of the first field with that lower-case name; null if there is none. */
  get(name: string): string | null {
    const line = startOf(name);
    const at = this.#lowerText.indexOf(line);
    return at === -1 ? null : this.#valueAt(at + line.length);
  }

  /** The values of all fields with that lower-case name, in order. */
  all(name: string): readonly string[] {
    const line = startOf(name);
    let at = this.#lowerText.indexOf(line);
    if (at === -1) return NO_VALUES;
    const values: string[] = [];
    for (; at !== -1; at = this.#lowerText.indexOf(line, at + line.length)) {
      values.push(this.#valueAt(at + line.length));
    }
    return values;
  }

  /** All fields in order, with names in lower case. */
  fields(): [name: string, value: string][] {
    return this.#text.split("\r\n").slice(1, -2).map((line) => {
      const colon = line.indexOf(":");
      return [line.slice(0, colon).toLowerCase(), line.slice(colon + 1).trim()];
    });
  }

  #valueAt(start: number): string {
    return this.#text.slice(start, this.#text.indexOf("\r", start)).trim();
  }

  /** Whether the connection can carry another request after this response (RFC 9112, 9.3). */
  get keepsAlive(): boolean {
    const connection = this.all("connection");
    const parameters = this.get("keep-alive");
    if (connection.length === 0 && parameters === null) return this.#isVersion11;
    const options = connection.join(",").toLowerCase().split(",").map((option) => option.trim());
    if (options.includes("close") || /(?:^|[,;\s])max=0+(?:$|[,;\s])/.test(parameters ?? "")) return false;
    return this.#isVersion11 || options.includes("keep-alive");
  }

  /**
   * How long the server keeps an idle connection, from its field `Keep-Alive: timeout=N`, in milliseconds; null without
   * it.
   */
  get keepAliveMs(): number | null {
    const seconds = /(?:^|[,;\s])timeout=(\d{1,9})(?:$|[,;\s])/i.exec(this.get("keep-alive") ?? "")?.[1];
    return seconds === undefined ? null : Number(seconds) * 1000;
  }

  /**
   * How the end of the body is determined, for a response to that method.
   *
   * @throws {TypeError} If lengths disagree, are not numbers or are combined with a transfer coding, or if the coding
   * is not exactly `chunked`. Parsers would disagree on the end of such a body (RFC 9112, 6.3).
   */
  framingFor(method: string): Framing {
    const { status } = this;
    const isTunnel = method === "CONNECT" && status < 300;
    if (method === "HEAD" || status === 204 || status === 304 || isTunnel) return { kind: "length", bytes: 0 };
    const codings = this.all("transfer-encoding");
    const lengths = this.all("content-length");
    const [coding] = codings;
    if (coding !== undefined) {
      const isChunked = codings.length === 1 && coding.toLowerCase() === "chunked";
      if (!isChunked || !this.#isVersion11) throw new TypeError("Cannot read a response: unknown transfer coding");
      if (lengths.length > 0) throw new TypeError("Cannot read a response: both a length and a transfer coding");
      return { kind: "chunked" };
    }
    if (lengths.length === 0) return { kind: "until_close" };
    const [only = ""] = lengths;
    if (lengths.length === 1 && LENGTH.test(only)) return { kind: "length", bytes: Number(only) };
    const [first, ...others] = lengths.join(",").split(",").map((length) => length.trim());
    if (first === undefined || !LENGTH.test(first) || others.some((other) => other !== first)) {
      throw new TypeError("Cannot read a response: bad content length");
    }
    return { kind: "length", bytes: Number(first) };
  }
}

/**
 * Where the body starts in a buffer with a complete head; -1 while the head is incomplete. Bare line feeds also end a
 * head here, so that {@linkcode ResponseHead} rejects it at once.
 *
 * @param start Where the head starts.
 * @param from Where to continue the search; earlier bytes were searched already.
 * @param end Where the bytes that were read end.
 */
export function bodyStartIn(buffer: Uint8Array, start: number, from: number, end: number): number {
  for (let i = Math.max(from, start + 1); i < end; i++) {
    if (buffer[i] !== 10) continue;
    if (buffer[i - 1] === 10) return i + 1;
    if (buffer[i - 1] === 13 && i - 2 >= start && buffer[i - 2] === 10) return i + 1;
  }
  return -1;
}
