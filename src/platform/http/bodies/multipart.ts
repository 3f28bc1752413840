import { Buffer } from "node:buffer";
import { GatewayError } from "../../lib/basics/gateway_error.ts";
import { type PartHead, readPartHead } from "./multipart_head.ts";

/** The events of a form while it is read: for each part its head, its data in chunks, and its end. */
export type FormEvent =
  | { readonly type: "head"; readonly head: PartHead }
  /** Valid until the next event is requested. */
  | { readonly type: "data"; readonly bytes: Uint8Array<ArrayBuffer> }
  | { readonly type: "end" };

/** Limits of a form. */
export interface FormLimits {
  /** The maximum number of parts. Default 64. */
  readonly maxParts?: number;
  /** The maximum size of one part's head in bytes, without its file name. Default 8,192. */
  readonly maxHeadBytes?: number;
}

const MAX_PARTS = 64;
const MAX_PART_HEAD_BYTES = 8_192;
const MAX_FILE_NAME_BYTES = 16_384;
/** The maximum number of trailing spaces in a boundary line; no known client sends more. */
const MAX_PADDING_BYTES = 64;
const CRLF = Buffer.from("\r\n");
const HEAD_END = Buffer.from("\r\n\r\n");

/**
 * Splits a `multipart/form-data` body into its parts as it arrives and buffers at most one chunk and one head. The
 * consumer applies the limits of the whole body and of one file: every byte passes through it.
 *
 * The available libraries either buffer each part completely or truncate a head that is too long silently. Source: RFC
 * 2046, 5.1.1; RFC 7578.
 *
 * @throws {GatewayError} `invalid_request` if the body is not such a form, exceeds a limit or ends before its last
 * boundary; whatever `chunks` throws.
 */
export async function* readForm(
  chunks: AsyncIterable<Uint8Array<ArrayBuffer>>,
  boundary: string,
  limits: FormLimits = {},
): AsyncGenerator<FormEvent, void> {
  const cutter = new FormCutter(boundary, limits);
  for await (const chunk of chunks) yield* cutter.push(chunk);
  cutter.end();
}

/**
 * The parser's state. `preamble`: before the first boundary. `line`: after a boundary, where two dashes end the form
 * and the rest of the line starts a part. `head`, `body`: within a part. `epilogue`: after the last boundary; ignored.
 */
type Place = "preamble" | "line" | "head" | "body" | "epilogue";

class FormCutter {
  readonly #delimiter: Buffer;
  readonly #mostParts: number;
  readonly #longestHead: number;
  #place: Place = "preamble";
  #parts = 0;
  /** True while the line end of the head precedes the content. */
  #isFresh = false;
  /** The unparsed data. The first boundary has no preceding line end, so one is inserted. */
  #rest: Buffer<ArrayBuffer> = CRLF;

  constructor(
    boundary: string,
    { maxParts: mostParts = MAX_PARTS, maxHeadBytes: longestHeadBytes = MAX_PART_HEAD_BYTES }: FormLimits,
  ) {
    this.#delimiter = Buffer.from(`\r\n--${boundary}`);
    this.#mostParts = mostParts;
    this.#longestHead = longestHeadBytes;
  }

  *push(chunk: Uint8Array<ArrayBuffer>): Generator<FormEvent, void> {
    const came = Buffer.from(chunk.buffer, chunk.byteOffset, chunk.byteLength);
    if (this.#place === "body" && !this.#isFresh && this.#endsWithoutBoundary(came)) {
      // Emitted without a copy, so that a large file is not copied with every chunk.
      const bytes = this.#rest;
      this.#rest = came;
      if (bytes.length > 0) yield { type: "data", bytes };
    } else this.#rest = this.#rest.length === 0 ? came : Buffer.concat([this.#rest, came]);
    for (let before: Place | null = null; before !== this.#place;) {
      before = this.#place;
      yield* this.#cut();
    }
  }

  /**
   * Whether no boundary starts in the remaining data and ends in the new bytes, which must be long enough to decide.
   */
  #endsWithoutBoundary(came: Buffer<ArrayBuffer>): boolean {
    if (came.length < this.#delimiter.length) return false;
    const seam = Buffer.concat([this.#rest, came.subarray(0, this.#delimiter.length - 1)]);
    return !seam.includes(this.#delimiter);
  }

  end(): void {
    if (this.#place === "epilogue") return;
    throw new GatewayError("invalid_request", "Cannot read the form: the body ends before its last boundary");
  }

  *#cut(): Generator<FormEvent, void> {
    switch (this.#place) {
      case "preamble":
        return this.#skipPreamble();
      case "line":
        return this.#readLine();
      case "head":
        return yield* this.#readHead();
      case "body":
        return yield* this.#readBody();
      case "epilogue":
        this.#rest = Buffer.alloc(0);
    }
  }

  #skipPreamble(): void {
    const at = this.#rest.indexOf(this.#delimiter);
    if (at < 0) this.#rest = this.#tail();
    else this.#enter("line", at + this.#delimiter.length);
  }

  #readLine(): void {
    if (this.#rest.length < 2) return;
    if (this.#rest[0] === DASH && this.#rest[1] === DASH) return this.#enter("epilogue", 2);
    const end = this.#rest.indexOf(CRLF);
    const padding = this.#rest.subarray(0, end < 0 ? this.#rest.length : end);
    const isBlank = padding.every((byte, at) => byte === BLANK || byte === TAB || (end < 0 && isLast(padding, at, CR)));
    if (!isBlank || padding.length > MAX_PADDING_BYTES) throw broken("expected a line end after a boundary");
    if (end < 0) return;
    if (++this.#parts > this.#mostParts) throw broken(`expected at most ${this.#mostParts} parts`);
    // The line end is kept, so that a head without fields ends like any other.
    this.#enter("head", end);
  }

  *#readHead(): Generator<FormEvent, void> {
    const end = this.#rest.indexOf(HEAD_END);
    const length = (end < 0 ? this.#rest.length : end) - CRLF.length;
    if (length > this.#longestHead + MAX_FILE_NAME_BYTES) {
      throw broken(`expected at most ${this.#longestHead} bytes before a part's content`);
    }
    if (end < 0) return;
    const text = this.#rest.toString("utf8", Math.min(CRLF.length, end), end);
    this.#enter("body", end + CRLF.length);
    // A line end is kept for a boundary that follows at once: the part is empty then.
    this.#isFresh = true;
    yield { type: "head", head: readPartHead(text, this.#longestHead) };
  }

  *#readBody(): Generator<FormEvent, void> {
    const at = this.#rest.indexOf(this.#delimiter);
    const skipped = this.#isFresh ? CRLF.length : 0;
    if (at < 0) {
      const kept = this.#tail();
      const length = this.#rest.length - kept.length;
      if (length <= skipped) return;
      const bytes = this.#rest.subarray(skipped, length);
      this.#isFresh = false;
      this.#rest = kept;
      if (bytes.length > 0) yield { type: "data", bytes: bytes };
      return;
    }
    const bytes = this.#rest.subarray(Math.min(skipped, at), at);
    this.#isFresh = false;
    this.#enter("line", at + this.#delimiter.length);
    if (bytes.length > 0) yield { type: "data", bytes: bytes };
    yield { type: "end" };
  }

  #enter(place: Place, from: number): void {
    this.#place = place;
    this.#rest = this.#rest.subarray(from);
  }

  /** The last bytes that may be the start of a boundary. */
  #tail(): Buffer<ArrayBuffer> {
    return this.#rest.subarray(Math.max(0, this.#rest.length - this.#delimiter.length + 1));
  }
}

const DASH = 0x2d;
const BLANK = 0x20;
const TAB = 0x09;
const CR = 0x0d;

function isLast(bytes: Uint8Array, at: number, byte: number): boolean {
  return at === bytes.length - 1 && bytes[at] === byte;
}

function broken(what: string): GatewayError {
  return new GatewayError("invalid_request", `Cannot read the form: ${what}`, { closeConnection: true });
}
