import type { Frame } from "../lib/frame.ts";
import { type Clock, systemClock } from "../lib/clock.ts";
import type { Chunk } from "./chunks.ts";

/** How frames become bytes. One per stream. */
export interface FrameEncoder {
  encode(frames: readonly Frame[]): string;
  /** What closes a whole stream. */
  end(): string;
}

/** The failure by which a stream breaks its connection; whoever watches the server's errors may overlook it. */
export class OrderedCut extends Error {
  override readonly name = "OrderedCut";
}

/** What a stream needs of its surroundings. */
export interface ChunkStreamOptions {
  readonly encoder: FrameEncoder;
  readonly clock: Clock;
  /** Called once if the client leaves before the end. */
  onLeave(): void;
}

/** Lets what was sent reach the client before the connection breaks. */
const FLUSH_MS = 20;

/** The beats as a body, each written when it is due. */
export function chunkStream(beats: Iterator<Chunk>, options: ChunkStreamOptions): ReadableStream<Uint8Array> {
  const { encoder, clock, onLeave } = options;
  const text = new TextEncoder();
  const left = new AbortController();

  /** Breaks the connection, after a while in which what was sent can reach the client: that takes no simulated time. */
  async function cut(controller: ReadableStreamDefaultController): Promise<void> {
    await pass(systemClock, FLUSH_MS, left.signal);
    if (!left.signal.aborted) controller.error(new OrderedCut("The sandbox cuts the answer"));
  }

  return new ReadableStream<Uint8Array>({
    async pull(controller) {
      while (!left.signal.aborted) {
        const { done, value: beat } = beats.next();
        if (done) {
          const end = encoder.end();
          if (end !== "") controller.enqueue(text.encode(end));
          return controller.close();
        }
        if (beat.kind === "frames") return controller.enqueue(text.encode(encoder.encode(beat.frames)));
        if (beat.kind === "end") return beat.how === "cut" ? await cut(controller) : controller.close();
        await pass(clock, beat.ms, left.signal);
      }
    },
    cancel() {
      left.abort();
      onLeave();
    },
  }, { highWaterMark: 0 });
}

/** Lets time pass, until the signal fires at the latest. */
export function pass(clock: Clock, ms: number, signal: AbortSignal): Promise<void> {
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
