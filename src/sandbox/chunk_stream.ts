import type { Frame } from "../platform/lib/streams/frame.ts";
import { type Clock, systemClock } from "../platform/lib/basics/clock.ts";
import { outputStream, type StreamOutput } from "../platform/lib/streams/output_stream.ts";
import type { Chunk } from "./chunks.ts";

/** Encodes frames as text or bytes. Create one per stream. */
export interface FrameEncoder {
  encode(frames: readonly Frame[]): string | Uint8Array;
  /** Returns the text that ends a whole stream. */
  end(): string;
}

/** The error with which a stream breaks its connection on purpose. Error handlers of the server may ignore it. */
export class RequestedBreak extends Error {
  override readonly name = "OrderedCut";
}

/** Options of a stream. */
export interface ChunkStreamOptions {
  readonly encoder: FrameEncoder;
  readonly clock: Clock;
  /** Called once if the client disconnects before the end. */
  onDisconnect(): void;
}

/** Lets the client receive the bytes before the connection breaks. */
const FLUSH_MS = 20;

/** Returns the chunks as a body. Each is written when it is due. */
export function chunkStream(chunks: Iterator<Chunk>, options: ChunkStreamOptions): ReadableStream<Uint8Array> {
  const { encoder, clock, onDisconnect: onLeave } = options;
  const text = new TextEncoder();
  const left = new AbortController();

  /**
   * Breaks the connection after a short delay, in which the client can receive the bytes. It takes no simulated time.
   */
  async function cut(output: StreamOutput<Uint8Array>): Promise<void> {
    await delay(systemClock, FLUSH_MS, left.signal);
    if (!left.signal.aborted) output.error(new RequestedBreak("The sandbox broke the connection on purpose"));
  }

  return outputStream<Uint8Array>({
    async pull(output) {
      // Ends with the chunks of the reply.
      while (!left.signal.aborted) {
        const { done, value: chunk } = chunks.next();
        if (done) {
          const end = encoder.end();
          if (end !== "") output.enqueue(text.encode(end));
          return output.close();
        }
        if (chunk.kind === "frames") {
          const encoded = encoder.encode(chunk.frames);
          return output.enqueue(typeof encoded === "string" ? text.encode(encoded) : encoded);
        }
        if (chunk.kind === "end") return chunk.how === "cut" ? await cut(output) : output.close();
        await delay(clock, chunk.ms, left.signal);
      }
    },
    cancel() {
      left.abort();
      onLeave();
    },
  }, { highWaterMark: 0 });
}

/** Waits for a time, or until the signal fires. */
export function delay(clock: Clock, ms: number, signal: AbortSignal): Promise<void> {
  const { promise, resolve } = Promise.withResolvers<void>();
  const cancel = clock.after(ms, done);
  if (signal.aborted) done();
  else signal.addEventListener("abort", done, { once: true });
  return promise;

  function done(): void {
    cancel();
    signal.removeEventListener("abort", done);
    resolve();
  }
}
