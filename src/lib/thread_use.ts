/** The memory of requests and the open streams of one thread. */
const CELLS = 2;
const UNIT_BYTES = 1_024;

/**
 * What each thread of a process holds for its requests, in memory that the threads share. Every thread writes its own
 * numbers, and reads those of all.
 */
export class ThreadUse {
  readonly #cells: Int32Array;
  readonly #first: number;

  /**
   * Reads and writes the numbers in shared memory.
   *
   * @param buffer Of {@linkcode ThreadUse.bufferFor}.
   * @param thread The thread whose numbers are written here; 0 is the main thread.
   */
  constructor(readonly buffer: SharedArrayBuffer, readonly thread: number) {
    this.#cells = new Int32Array(buffer);
    this.#first = thread * CELLS;
  }

  /** The shared memory for so many threads. */
  static bufferFor(threads: number): SharedArrayBuffer {
    return new SharedArrayBuffer(threads * CELLS * Int32Array.BYTES_PER_ELEMENT);
  }

  /** Sets the bytes that the requests of this thread hold. They are rounded up to whole KiB. */
  setMemory(bytes: number): void {
    Atomics.store(this.#cells, this.#first, Math.ceil(bytes / UNIT_BYTES));
  }

  /** Sets the number of open streams of this thread. */
  setStreams(count: number): void {
    Atomics.store(this.#cells, this.#first + 1, count);
  }

  /** The bytes that the requests of all other threads hold. */
  get othersMemory(): number {
    return this.#sumOfOthers(0) * UNIT_BYTES;
  }

  /** The open streams of all other threads. */
  get othersStreams(): number {
    return this.#sumOfOthers(1);
  }

  #sumOfOthers(offset: number): number {
    let sum = 0;
    for (let cell = offset; cell < this.#cells.length; cell += CELLS) {
      if (cell !== this.#first + offset) sum += Atomics.load(this.#cells, cell);
    }
    return sum;
  }
}
