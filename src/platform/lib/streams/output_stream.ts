import { type MaybePromise, recover } from "../basics/maybe_promise.ts";
import { TurnPace } from "./turn_pace.ts";

/**
 * The streams of this process. Each is written by a {@linkcode StreamOutput}: the platform's controller throws once its
 * stream has ended, and a caller can leave at any instant, even within `enqueue`.
 */

/** What a stream is made of. Its functions may throw: the stream then ends, and the failure is logged. */
export interface OutputSource<T> {
  /** Called once, at the start. */
  start?(output: StreamOutput<T>): MaybePromise<void>;
  /** Called when the reader takes more. It is not called again before its promise resolves. */
  pull?(output: StreamOutput<T>): MaybePromise<void>;
  /** Called once if the reader leaves before the end. */
  cancel?(reason: unknown): MaybePromise<void>;
  /**
   * Returns what a stream sends last if a function of its source fails: the error in its format. Null, or no function,
   * breaks the stream, and a connection that carries it is cut.
   */
  lastChunk?(failure: unknown): T | null;
}

/**
 * Creates a stream.
 *
 * @param strategy How much is read before the reader asks for it. Default: one chunk.
 */
export function outputStream<T>(source: OutputSource<T>, strategy?: QueuingStrategy<T>): ReadableStream<T> {
  return new ReadableStream(new GuardedSource(source), strategy);
}

/** Creates a stream of what an iterator yields. An iterator that fails breaks it, and a reader that leaves ends it. */
export function iteratorStream<T>(items: Iterable<T> | AsyncIterable<T>): ReadableStream<T> {
  const iterator = Symbol.asyncIterator in items ? items[Symbol.asyncIterator]() : items[Symbol.iterator]();
  return outputStream<T>({
    async pull(output) {
      const { done, value } = await iterator.next();
      if (done) output.close();
      else output.enqueue(value);
    },
    async cancel() {
      await iterator.return?.();
    },
  }, { highWaterMark: 0 });
}

/** The platform copies what it sends, so more is not sent in one step. */
const MAX_SENT_BYTES = 65_536;

/**
 * Creates a stream of the bytes of buffers, with turns of the event loop in between. A response with a body of 30 MB as
 * a buffer takes the platform 40 ms in one step.
 *
 * @param onSend Called with each piece when it is sent.
 */
export function piecesStream(
  buffers: readonly ArrayBuffer[],
  onSend: (piece: Uint8Array<ArrayBuffer>) => void = () => {},
): ReadableStream<Uint8Array<ArrayBuffer>> {
  const pieces = piecesOf(buffers);
  const pace = new TurnPace();
  return outputStream<Uint8Array<ArrayBuffer>>({
    async pull(output) {
      const turn = pace.note();
      if (turn !== null) await turn;
      const { done, value } = pieces.next();
      if (done) return output.close();
      onSend(value);
      output.enqueue(value);
    },
  }, { highWaterMark: 0 });
}

function* piecesOf(buffers: readonly ArrayBuffer[]): Generator<Uint8Array<ArrayBuffer>, undefined> {
  for (const buffer of buffers) {
    for (let start = 0; start < buffer.byteLength; start += MAX_SENT_BYTES) {
      yield new Uint8Array(buffer, start, Math.min(MAX_SENT_BYTES, buffer.byteLength - start));
    }
  }
}

/** Where a source writes its stream. Nothing throws, and nothing has an effect after the end of the stream. */
export class StreamOutput<T> {
  readonly #source: OutputSource<T>;
  #controller: ReadableStreamDefaultController<T> | null;

  /** Use {@linkcode outputStream}. */
  constructor(source: OutputSource<T>, controller: ReadableStreamDefaultController<T>) {
    this.#source = source;
    this.#controller = controller;
  }

  /** Whether the stream was closed, has failed or was cancelled. */
  get isOver(): boolean {
    return this.#controller === null;
  }

  /**
   * How much more the reader takes, in the units of the strategy. Negative if more is queued than it takes, and -1
   * after the end.
   */
  get desiredSize(): number {
    return this.#controller?.desiredSize ?? -1;
  }

  /**
   * Sends a chunk. The reader can leave within this call: `cancel` of the source has been called then, and
   * {@linkcode StreamOutput.isOver} is true.
   */
  enqueue(chunk: T): void {
    this.#controller?.enqueue(chunk);
  }

  /** Ends the stream after what was sent. */
  close(): void {
    this.#end()?.close();
  }

  /** Breaks the stream. What the reader has not taken is lost, and a connection that carries it is cut. */
  error(reason: unknown): void {
    this.#end()?.error(reason);
  }

  /**
   * Ends the stream because of a failure that nothing handled, with the last chunk of the source. The failure is
   * reported to the listeners of {@linkcode onStreamFailure}.
   */
  readonly fail = (failure: unknown): void => {
    // What a reader interrupts by leaving fails too.
    if (this.isOver) return;
    reportStreamFailure(failure);
    const last = this.#lastChunk(failure);
    if (last === null) return this.error(failure);
    this.enqueue(last);
    this.close();
  };

  /** Calls a function that is not the source's, such as that of a timer. If it throws, the stream fails. */
  run(callback: () => void): void {
    try {
      callback();
    } catch (failure) {
      this.fail(failure);
    }
  }

  /** The reader has left. For {@linkcode outputStream}. */
  onCancel(): void {
    this.#controller = null;
  }

  #end(): ReadableStreamDefaultController<T> | null {
    const controller = this.#controller;
    this.#controller = null;
    return controller;
  }

  #lastChunk(failure: unknown): T | null {
    try {
      return this.#source.lastChunk?.(failure) ?? null;
    } catch (thrown) {
      reportStreamFailure(thrown);
      return null;
    }
  }
}

const listeners = new Set<(failure: unknown) => void>();

/**
 * Calls a function with each failure of a stream of this thread that its source did not handle. Returns a function that
 * ends that.
 *
 * @param listener Must not throw.
 */
export function onStreamFailure(listener: (failure: unknown) => void): () => void {
  listeners.add(listener);
  return () => void listeners.delete(listener);
}

/** Reports a failure to the listeners of {@linkcode onStreamFailure}. */
export function reportStreamFailure(failure: unknown): void {
  for (const listener of listeners) listener(failure);
}

/** The source of the platform's stream. */
class GuardedSource<T> implements UnderlyingDefaultSource<T> {
  readonly #source: OutputSource<T>;
  #output: StreamOutput<T> | null = null;

  constructor(source: OutputSource<T>) {
    this.#source = source;
  }

  start(controller: ReadableStreamDefaultController<T>): MaybePromise<void> {
    const output = this.#output = new StreamOutput(this.#source, controller);
    try {
      return recover(this.#source.start?.(output), output.fail);
    } catch (failure) {
      output.fail(failure);
    }
  }

  pull(): MaybePromise<void> {
    const output = this.#output;
    if (output === null) return;
    try {
      return recover(this.#source.pull?.(output), output.fail);
    } catch (failure) {
      output.fail(failure);
    }
  }

  cancel(reason: unknown): MaybePromise<void> {
    this.#output?.onCancel();
    try {
      return recover(this.#source.cancel?.(reason), reportStreamFailure);
    } catch (failure) {
      reportStreamFailure(failure);
    }
  }
}
