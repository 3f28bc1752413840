import { JoinedBytes } from "../../lib/bytes/joined_bytes.ts";
import { TurnPace } from "../../lib/streams/turn_pace.ts";
import { ChunkCount } from "./chunk_count.ts";

type Chunk = Uint8Array<ArrayBuffer>;

/** Smaller chunks are joined. */
const SMALL_BYTES = 1_024;
/** A body of one or two chunks is passed on as it arrives. */
const UNJOINED_CHUNKS = 2;

/**
 * Reads a body in chunks. The platform delivers each chunk of a chunked body by itself, however small, and all that
 * have arrived without a turn of the event loop. Here the event loop turns at least once in 32 chunks, and small chunks
 * that have arrived together are joined.
 */
export class ChunkReader {
  readonly #reader: ReadableStreamDefaultReader<Chunk>;
  readonly #pace = new TurnPace();
  /** A read that did not end within the turn of the reads before it. */
  #pending: Promise<ReadableStreamReadResult<Chunk>> | null = null;
  readonly #count = new ChunkCount();
  #smallInRow = 0;
  #isDone = false;

  /**
   * @param body Not read yet.
   * @param onChunk Called with the length of each chunk as it arrived. What it throws is rethrown.
   */
  constructor(body: ReadableStream<Chunk>, readonly onChunk: (bytes: number) => void) {
    this.#reader = body.getReader();
  }

  /**
   * Returns the next bytes; null at the end. Rejects as the platform does if the body is incomplete.
   *
   * @throws {GatewayError} As {@linkcode ChunkCount.add}.
   */
  async next(): Promise<Chunk | null> {
    if (this.#isDone) return null;
    const turn = this.#pace.note();
    if (turn !== null) await turn;
    const reading = this.#pending ?? this.#reader.read();
    this.#pending = null;
    const chunk = this.#take(await reading);
    if (chunk === null || chunk.length >= SMALL_BYTES) {
      this.#smallInRow = 0;
      return chunk;
    }
    return ++this.#smallInRow > UNJOINED_CHUNKS ? await this.#joined(chunk) : chunk;
  }

  /** Discards the rest. */
  async cancel(): Promise<void> {
    await this.#reader.cancel();
  }

  /** Adds the small chunks that arrive within the same turn of the event loop. */
  async #joined(first: Chunk): Promise<Chunk> {
    const joined = new JoinedBytes();
    joined.add(first);
    const turn = this.#pace.turn.then(() => null, () => null);
    // Ends with the turn, which comes by itself, or which is awaited after the last chunk that it may have.
    for (let isOver = false; !isOver;) {
      const last = this.#pace.note();
      if (last !== null) {
        await last;
        break;
      }
      const reading = this.#reader.read();
      reading.catch(() => {}); // the next call awaits it, if there is one
      const read = await Promise.race([reading, turn]);
      if (read === null) {
        this.#pending = reading;
        break;
      }
      const chunk = this.#take(read);
      if (chunk !== null) joined.add(chunk);
      isOver = chunk === null || chunk.length >= SMALL_BYTES;
    }
    return joined.joined();
  }

  #take({ done, value }: ReadableStreamReadResult<Chunk>): Chunk | null {
    if (done) {
      this.#isDone = true;
      this.onChunk(0);
      return null;
    }
    this.#count.add(value.length);
    this.onChunk(value.length);
    return value;
  }
}
