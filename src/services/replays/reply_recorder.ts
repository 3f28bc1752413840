import type { HeldMemory } from "../../platform/lib/process/memory_budget.ts";
import type { OutputSource, StreamOutput } from "../../platform/lib/streams/output_stream.ts";

/** How a reply ended: complete, failed, or left by its caller. */
export type ReplyEnd = "completed" | "failed" | "left";

/** Options of {@linkcode ReplyRecorder}. */
export interface RecorderOptions {
  /** The reply. */
  readonly body: ReadableStream<Uint8Array<ArrayBuffer>>;
  /** Whether the reply ends when its caller leaves. Otherwise it is read to its end. */
  readonly endsWithCaller: boolean;
  /** The most bytes that are kept. A longer reply is passed on and not kept. */
  readonly maxBytes: number;
  /** Counts what is kept. Ended with the recorder. */
  readonly memory: HeldMemory;
  /** Called once, before the caller receives the end. Must not throw. */
  readonly onEnd: (end: ReplyEnd, kept: readonly Uint8Array[] | null) => Promise<void>;
}

/** The memory is counted in steps. */
const STEP_BYTES = 65_536;

/** Passes a reply on to its caller and keeps it. */
export class ReplyRecorder implements OutputSource<Uint8Array<ArrayBuffer>> {
  readonly #reader: ReadableStreamDefaultReader<Uint8Array<ArrayBuffer>>;
  #kept: Uint8Array[] | null = [];
  #bytes = 0;
  #reserved = 0;
  #isLeft = false;
  #ending: Promise<void> | null = null;

  constructor(private readonly options: RecorderOptions) {
    this.#reader = options.body.getReader();
  }

  /** Called by the platform until as much waits for the caller as is kept at most. */
  async pull(output: StreamOutput<Uint8Array<ArrayBuffer>>): Promise<void> {
    const chunk = await this.#next();
    if (this.#isLeft) return;
    if (chunk === null) output.close();
    else output.enqueue(chunk);
  }

  /** The caller disconnected. May be called twice. */
  async cancel(): Promise<void> {
    this.#isLeft = true;
    if (this.options.endsWithCaller) {
      await this.#reader.cancel().catch(() => {}); // nothing more is expected of it
      return await this.#end("left");
    }
    try {
      while (await this.#next() !== null);
    } catch {
      // Its end is noted.
    }
  }

  /** The next bytes; null at the end. Throws what the reply fails with, once its end is noted. */
  async #next(): Promise<Uint8Array<ArrayBuffer> | null> {
    try {
      const { done, value } = await this.#reader.read();
      if (!done) {
        this.#keep(value);
        return value;
      }
    } catch (error) {
      await this.#end("failed");
      throw error;
    }
    // A reply that is cancelled appears to have ended.
    await this.#end(this.#isLeft && this.options.endsWithCaller ? "left" : "completed");
    return null;
  }

  #keep(chunk: Uint8Array): void {
    if (this.#kept === null) return;
    this.#bytes += chunk.length;
    try {
      if (this.#bytes > this.options.maxBytes) return this.#drop();
      while (this.#reserved < this.#bytes) {
        this.options.memory.reserve(STEP_BYTES);
        this.#reserved += STEP_BYTES;
      }
      this.#kept.push(chunk);
    } catch {
      this.#drop(); // no memory is free: the reply is more important than its copy
    }
  }

  #drop(): void {
    this.#kept = null;
    this.options.memory.releaseTo(0);
  }

  #end(end: ReplyEnd): Promise<void> {
    return this.#ending ??= this.options.onEnd(end, this.#kept).finally(() => {
      this.#kept = null;
      this.options.memory.end();
    });
  }
}
