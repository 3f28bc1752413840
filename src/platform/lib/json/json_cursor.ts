const QUOTE = 0x22, BACKSLASH = 0x5c, COMMA = 0x2c, COLON = 0x3a;
const OPEN_OBJECT = 0x7b, CLOSE_OBJECT = 0x7d, OPEN_LIST = 0x5b, CLOSE_LIST = 0x5d;
const MAX_DEPTH = 64;
const MAX_PARSED_BYTES = 65_536;
const DECODER = new TextDecoder();

/**
 * Reads a JSON text from its start to its end, without parsing the values that are skipped, so that parts of a long
 * text can be used as they are. It does not validate what it skips. A text that ends early, or has other values than
 * expected, is a `SyntaxError`.
 */
export class JsonCursor {
  /** The offset of the next byte. */
  at = 0;

  /** @param bytes UTF-8 without a byte order mark. */
  constructor(readonly bytes: Uint8Array<ArrayBuffer>) {}

  /** Whether the next value is a list. */
  get isAtList(): boolean {
    return this.#next() === OPEN_LIST;
  }

  /** Whether the next value is an object. */
  get isAtObject(): boolean {
    return this.#next() === OPEN_OBJECT;
  }

  /** Whether the next value is a list whose first item is a list. */
  get isAtListOfLists(): boolean {
    if (!this.isAtList) return false;
    const start = this.at++;
    const isList = this.isAtList;
    this.at = start;
    return isList;
  }

  /** Whether the next value is a string. */
  get isAtString(): boolean {
    return this.#next() === QUOTE;
  }

  /** Yields the name of each member of the object that follows. The consumer reads or skips the value after each. */
  *members(): Generator<string, void> {
    this.#expect(OPEN_OBJECT);
    if (this.#takes(CLOSE_OBJECT)) return;
    do {
      const name: unknown = this.value();
      if (typeof name !== "string") throw this.#broken();
      this.#expect(COLON);
      yield name;
    } while (this.#takes(COMMA));
    this.#expect(CLOSE_OBJECT);
  }

  /** Yields the number of each item of the list that follows, from 0. The consumer reads or skips the item. */
  *items(): Generator<number, void> {
    this.#expect(OPEN_LIST);
    if (this.#takes(CLOSE_LIST)) return;
    let nth = 0;
    do yield nth++; while (this.#takes(COMMA));
    this.#expect(CLOSE_LIST);
  }

  /** Parses the next value. One of more than 64 KB is no name, number or usage, and not parsed. */
  value(): unknown {
    const bytes = this.skip();
    if (bytes.length > MAX_PARSED_BYTES) throw this.#broken();
    return JSON.parse(DECODER.decode(bytes));
  }

  /** Skips the next value and returns its bytes, which are not copied. */
  skip(): Uint8Array<ArrayBuffer> {
    this.#next();
    const start = this.at;
    this.#skipValue();
    return this.bytes.subarray(start, this.at);
  }

  /** Requires that nothing but space is left. */
  end(): void {
    if (this.#next() !== undefined) throw this.#broken();
  }

  #skipValue(): void {
    let depth = 0;
    do {
      const byte = this.#next();
      if (byte === QUOTE) this.#skipString();
      else if (byte === OPEN_OBJECT || byte === OPEN_LIST) {
        this.at++;
        if (++depth > MAX_DEPTH) throw this.#broken();
      } else if (byte === CLOSE_OBJECT || byte === CLOSE_LIST) {
        this.at++;
        if (--depth < 0) throw this.#broken();
      } else if (depth > 0 && (byte === COMMA || byte === COLON)) this.at++;
      else this.#skipPlain();
    } while (depth > 0);
  }

  #skipString(): void {
    for (this.at++;;) {
      const quote = this.bytes.indexOf(QUOTE, this.at);
      if (quote < 0) throw this.#broken();
      let before = quote;
      while (this.bytes[before - 1] === BACKSLASH && before > this.at) before--;
      this.at = quote + 1;
      if ((quote - before) % 2 === 0) return;
    }
  }

  /** A number or a literal; nothing is an error. */
  #skipPlain(): void {
    const start = this.at;
    for (;; this.at++) {
      const byte = this.bytes[this.at] ?? COMMA;
      const isPart = (byte >= 0x30 && byte <= 0x39) || (byte >= 0x61 && byte <= 0x7a) || byte === 0x2b ||
        byte === 0x2d || byte === 0x2e || byte === 0x45;
      if (!isPart) break;
    }
    if (this.at === start) throw this.#broken();
  }

  #takes(byte: number): boolean {
    if (this.#next() !== byte) return false;
    this.at++;
    return true;
  }

  #expect(byte: number): void {
    if (!this.#takes(byte)) throw this.#broken();
  }

  /** The next byte that is no space; undefined at the end. */
  #next(): number | undefined {
    for (;; this.at++) {
      const byte = this.bytes[this.at];
      if (byte !== 0x20 && byte !== 0x0a && byte !== 0x0d && byte !== 0x09) return byte;
    }
  }

  #broken(): SyntaxError {
    return new SyntaxError(`Cannot read the JSON text at offset ${this.at}`);
  }
}
