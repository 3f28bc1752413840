import { constants, createGunzip, createZstdDecompress } from "node:zlib";
import { GatewayError } from "../lib/basics/gateway_error.ts";
import { outputStream } from "../lib/streams/output_stream.ts";
import { TurnPace } from "../lib/streams/turn_pace.ts";
import type { ContentCoding } from "./front_door_checks.ts";
import { ZstdFrames } from "./zstd_frames.ts";

type Bytes = Uint8Array<ArrayBuffer>;

/** The most bytes that a byte of a coded body may become. */
const MAX_RATIO = 100;
/** A body that decodes to less may have any ratio. */
const RATIO_FROM_BYTES = 65_536;
/** What a decoder gets and returns in one step, so that a step is short and its memory bounded. */
const STEP_BYTES = 16_384;
const DECODED_STEP_BYTES = 65_536;
/** The largest window that a decoder must have, 8 MiB. Source: RFC 9659, 3. */
const MAX_WINDOW_LOG = 23;

/**
 * Returns a request with the decoded body, without the header fields of the coding. The body is decoded as it is read,
 * so that limits count decoded bytes and nothing is decoded that nobody reads. Reading fails with a {@linkcode
 * GatewayError}, `invalid_request`: for bytes that are not of the coding, an incomplete body, bytes after its end, and
 * for more than a hundred times the bytes that were sent.
 */
export function decodedRequest(request: Request, coding: ContentCoding): Request {
  const headers = new Headers(request.headers);
  const declared = Number(headers.get("content-length") ?? 0);
  for (const name of ["content-encoding", "content-length", "transfer-encoding"]) headers.delete(name);
  const { body } = request;
  // Made from the request, since its address may be none that a parser takes.
  return new Request(request, { headers, body: body === null ? null : decodedStream(body, coding, declared) });
}

/** @param declaredBytes The declared length of the coded body; 0 if it is not known. */
function decodedStream(body: ReadableStream<Bytes>, coding: ContentCoding, declaredBytes: number) {
  let decoding: Decoding | null = null;
  return outputStream<Bytes>({
    async pull(output) {
      // Nothing is locked before the first read, since an unread body is discarded by its request.
      decoding ??= new Decoding(body, coding, declaredBytes);
      try {
        const chunk = await decoding.next();
        if (chunk === null) output.close();
        else output.enqueue(chunk);
      } catch (failure) {
        output.error(failure); // the caller's mistake, which whoever reads the body answers
      }
    },
    async cancel() {
      if (decoding === null) await body.cancel();
      else await decoding.cancel();
    },
  }, { highWaterMark: 0 });
}

/** A body while it is decoded. */
class Decoding {
  readonly #decoder: ReturnType<typeof createGunzip>;
  readonly #decoded: AsyncIterator<Bytes>;
  readonly #reader: ReadableStreamDefaultReader<Bytes>;
  readonly #frames: ZstdFrames | null;
  readonly #pace = new TurnPace();
  #sentBytes = 0;
  #decodedBytes = 0;

  constructor(body: ReadableStream<Bytes>, readonly coding: ContentCoding, readonly declaredBytes: number) {
    this.#reader = body.getReader();
    this.#decoder = coding === "gzip" ? createGunzip({ chunkSize: DECODED_STEP_BYTES }) : createZstdDecompress({
      chunkSize: DECODED_STEP_BYTES,
      params: { [constants.ZSTD_d_windowLogMax]: MAX_WINDOW_LOG },
    });
    // The decoder of the platform takes a body that ends within a frame, or has other bytes after one, for complete.
    this.#frames = coding === "gzip" ? null : new ZstdFrames();
    this.#decoded = this.#decoder[Symbol.asyncIterator]();
    this.#feed().catch((error) => this.#decoder.destroy(error));
  }

  async next(): Promise<Bytes | null> {
    const turn = this.#pace.note();
    if (turn !== null) await turn;
    let read: IteratorResult<Uint8Array>;
    try {
      read = await this.#decoded.next();
    } catch (error) {
      throw this.#failureOf(error);
    }
    if (read.done) return null;
    this.#decodedBytes += read.value.length;
    const sentBytes = Math.max(this.#sentBytes, this.declaredBytes);
    if (this.#decodedBytes > RATIO_FROM_BYTES && this.#decodedBytes > sentBytes * MAX_RATIO) {
      await this.cancel();
      const message = `Cannot read the body: it decodes to more than ${MAX_RATIO} times the bytes that were sent`;
      throw new GatewayError("invalid_request", message, { closeConnection: true });
    }
    return new Uint8Array(read.value);
  }

  async cancel(): Promise<void> {
    this.#decoder.destroy();
    await this.#reader.cancel().catch(() => {}); // it is incomplete: nothing to discard
  }

  async #feed(): Promise<void> {
    for (let read = await this.#reader.read(); !read.done; read = await this.#reader.read()) {
      this.#sentBytes += read.value.length;
      this.#frames?.add(read.value);
      for (let start = 0; start < read.value.length; start += STEP_BYTES) {
        await this.#write(read.value.subarray(start, start + STEP_BYTES));
      }
    }
    this.#frames?.end();
    this.#decoder.end();
  }

  /** Resolves when the decoder takes more, or has ended. */
  #write(bytes: Bytes): Promise<void> {
    if (this.#decoder.destroyed || this.#decoder.write(bytes)) return Promise.resolve();
    return new Promise((resolve) => {
      const done = () => {
        this.#decoder.off("drain", done).off("close", done);
        resolve();
      };
      this.#decoder.on("drain", done).on("close", done);
    });
  }

  #failureOf(cause: unknown): GatewayError {
    if (cause instanceof GatewayError) return cause;
    const isOfDecoder = cause instanceof Error && "code" in cause && /^(Z_|ZSTD_|ERR_)/.test(String(cause.code));
    const message = isOfDecoder || cause instanceof RangeError
      ? `Cannot read the body: it is not ${this.coding}, or it is incomplete or followed by other bytes`
      : "Cannot read the body: it is incomplete or its framing is invalid";
    return new GatewayError("invalid_request", message, { closeConnection: true, cause });
  }
}
