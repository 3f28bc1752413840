/** How the end of a body is told (RFC 9112, 6.3). */
export type Framing =
  | { readonly kind: "length"; readonly bytes: number }
  | { readonly kind: "chunked" }
  | { readonly kind: "until_close" };

/** Most bytes of a response head; more than any vendor sends. */
export const HEAD_LIMIT_BYTES = 65_536;

/**
 * The status line and header fields of one response. Fields are found by searching the text when asked for, because a
 * gateway reads five of the thirty that a vendor sends.
 */
export class ResponseHead {
  /** The status code, 100 to 599. */
  readonly status: number;
  readonly #text: string;
  readonly #lower: string;

  /**
   * Reads the status line; fields are left for {@linkcode ResponseHead.get}.
   *
   * @param text Everything before the empty line, as Latin-1.
   * @throws {TypeError} If the status line is not one of HTTP/1.0 or 1.1.
   */
  constructor(text: string) {
    const match = /^HTTP\/1\.[01] ([1-5]\d\d)(?: |\r|$)/.exec(text);
    if (!match) throw new TypeError("Cannot read a response head: no HTTP/1.1 status line");
    this.status = Number(match[1]);
    this.#text = text;
    this.#lower = text.toLowerCase();
  }

  /** The value of the first field of that name (given in lower case), null if there is none. */
  get(name: string): string | null {
    return this.#valueAt(name, 0)?.value ?? null;
  }

  /** Whether the connection can carry another request after this response. */
  get keepsAlive(): boolean {
    const connection = this.get("connection")?.toLowerCase();
    return this.#text.startsWith("HTTP/1.1") ? connection !== "close" : connection === "keep-alive";
  }

  /**
   * How the end of the body is told, in a response to a request of that method.
   *
   * @throws {TypeError} If lengths disagree, are no numbers, or the transfer coding is not `chunked`: then nobody can say
   * where the body ends (RFC 9112, 6.3).
   */
  framingFor(method: string): Framing {
    if (method === "HEAD" || this.status === 204 || this.status === 304) return { kind: "length", bytes: 0 };
    const coding = this.get("transfer-encoding");
    if (coding !== null) {
      if (coding.toLowerCase() !== "chunked") throw new TypeError("Cannot read a response: unknown transfer coding");
      return { kind: "chunked" };
    }
    const first = this.#valueAt("content-length", 0);
    if (first === null) return { kind: "until_close" };
    const second = this.#valueAt("content-length", first.end);
    if (!/^\d{1,15}$/.test(first.value) || (second !== null && second.value !== first.value)) {
      throw new TypeError("Cannot read a response: bad content length");
    }
    return { kind: "length", bytes: Number(first.value) };
  }

  #valueAt(name: string, from: number): { value: string; end: number } | null {
    const at = this.#lower.indexOf(`\n${name}:`, from);
    if (at === -1) return null;
    const start = at + name.length + 2;
    const newline = this.#text.indexOf("\n", start);
    const end = newline === -1 ? this.#text.length : newline;
    return { value: this.#text.slice(start, end).trim(), end };
  }
}

/** Where the body starts in a buffer that holds a whole head, -1 while the head is not complete. */
export function bodyStartIn(buffer: Uint8Array, length: number): number {
  for (let i = 3; i < length; i++) {
    if (buffer[i] !== 10) continue;
    if (buffer[i - 1] === 13 && buffer[i - 2] === 10) return i + 1;
    if (buffer[i - 1] === 10) return i + 1;
  }
  return -1;
}
