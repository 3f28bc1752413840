import { nextTurn } from "../streams/loop_turns.ts";

const QUOTE = 0x22, BACKSLASH = 0x5c, COMMA = 0x2c, COLON = 0x3a;
const OPEN_OBJECT = 0x7b, CLOSE_OBJECT = 0x7d, OPEN_LIST = 0x5b, CLOSE_LIST = 0x5d;
const MAX_DEPTH = 64;
/** What is parsed in one step: a longer text takes more than a few milliseconds. */
export const MAX_PARSED_BYTES = 65_536;
/** A few milliseconds of work. No text has so much space in one place. */
const SLICE_BYTES = 1_000_000;
/** How much longer it takes to parse a byte than to skip it, if it is one of an object whose names no other has. */
const PARSED_FACTOR = 16;
const DECODER = new TextDecoder();

/** Where a value ends is not known yet. */
interface Walk {
  depth: number;
  isInString: boolean;
}

/**
 * Reads a JSON text from its start to its end, without parsing the values that are skipped, so that parts of a long
 * text can be used as they are. It does not validate what it skips. A text that ends early, or has other values than
 * expected, is a `SyntaxError`. It yields to others after each megabyte, wherever that ends.
 */
export class JsonCursor {
  /** The offset of the next byte. */
  at = 0;
  #pauseAt = SLICE_BYTES;

  /**
   * @param bytes UTF-8 without a byte order mark.
   * @param turn Resolves in a later turn of the event loop.
   */
  constructor(readonly bytes: Uint8Array<ArrayBuffer>, readonly turn: () => Promise<void> = nextTurn) {}

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

  /** Lets others work if enough was read since the last pause. Each loop over members awaits it, as `items` does. */
  async pause(): Promise<void> {
    if (this.at < this.#pauseAt) return;
    await this.turn();
    this.#pauseAt = this.at + SLICE_BYTES;
  }

  /** Parses the next value. One of more than 64 KB is no name, number or usage, and not parsed. */
  value(): unknown {
    this.#next();
    const start = this.at;
    if (!this.#walk({ depth: 0, isInString: false }, start + MAX_PARSED_BYTES)) throw this.#broken();
    this.#pauseAt -= PARSED_FACTOR * (this.at - start);
    return JSON.parse(DECODER.decode(this.bytes.subarray(start, this.at)));
  }

  /** Skips the next value and returns its bytes, which are not copied. */
  async skip(): Promise<Uint8Array<ArrayBuffer>> {
    this.#next();
    const start = this.at;
    const walk = { depth: 0, isInString: false };
    // Ends with the value or with the text: after a pause, each walk goes on by a slice.
    while (!this.#walk(walk, this.#pauseAt)) await this.pause();
    return this.bytes.subarray(start, this.at);
  }

  /** Requires that nothing but space is left. */
  end(): void {
    if (this.#next() !== undefined) throw this.#broken();
  }

  /**
   * Goes on to the end of a value.
   *
   * @returns False if it stopped before, at `until` or soon after it.
   */
  #walk(walk: Walk, until: number): boolean {
    do {
      if (walk.isInString) this.#walkString(walk, until);
      else this.#walkToken(walk);
      if (walk.depth === 0 && !walk.isInString) return true;
    } while (this.at < until);
    return false;
  }

  #walkToken(walk: Walk): void {
    const byte = this.#next();
    if (byte === QUOTE) {
      this.at++;
      walk.isInString = true;
    } else if (byte === OPEN_OBJECT || byte === OPEN_LIST) {
      this.at++;
      if (++walk.depth > MAX_DEPTH) throw this.#broken();
    } else if (byte === CLOSE_OBJECT || byte === CLOSE_LIST) {
      this.at++;
      if (--walk.depth < 0) throw this.#broken();
    } else if (walk.depth > 0 && (byte === COMMA || byte === COLON)) this.at++;
    else this.#skipPlain();
  }

  #walkString(walk: Walk, until: number): void {
    const { bytes } = this;
    for (let at = this.at; at < until; at++) {
      const byte = bytes[at];
      if (byte === undefined) throw this.#broken();
      if (byte === BACKSLASH) at++;
      else if (byte === QUOTE) {
        walk.isInString = false;
        this.at = at + 1;
        return;
      }
      this.at = at + 1;
    }
  }

  /** A number or a literal; nothing is an error. */
  #skipPlain(): void {
    const start = this.at;
    const end = start + SLICE_BYTES;
    for (; this.at < end; this.at++) {
      const byte = this.bytes[this.at] ?? COMMA;
      const isPart = (byte >= 0x30 && byte <= 0x39) || (byte >= 0x61 && byte <= 0x7a) || byte === 0x2b ||
        byte === 0x2d || byte === 0x2e || byte === 0x45;
      if (!isPart) break;
    }
    if (this.at === start || this.at === end) throw this.#broken();
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
    const end = this.at + SLICE_BYTES;
    for (; this.at < end; this.at++) {
      const byte = this.bytes[this.at];
      if (byte !== 0x20 && byte !== 0x0a && byte !== 0x0d && byte !== 0x09) return byte;
    }
    throw this.#broken();
  }

  #broken(): SyntaxError {
    return new SyntaxError(`Cannot read the JSON text at offset ${this.at}`);
  }
}
