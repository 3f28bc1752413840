/** Of each thread: the memory of requests, and the open streams. */
const TOTALS = 2;
/**
 * The number of groups of accounts. An account is in one of them by its hash, since shared memory cannot grow with the
 * accounts.
 */
const GROUPS = 4_096;
/** The group of requests without an account. No account is in it. */
const NO_ACCOUNT_GROUP = GROUPS;
const CELLS = TOTALS + GROUPS + 1;
const UNIT_BYTES = 1_024;
/** Before the cells of all threads: the seed of the hash, so that nobody can choose accounts of one group. */
const SEED_CELLS = 1;
/** Source: IETF draft-eastlake-fnv, "FNV-1a", 32 bits. */
const FNV_PRIME = 0x01000193;

/**
 * What each thread of a process holds for its requests, in memory that the threads share. Every thread writes its own
 * numbers, and reads those of all.
 */
export class ThreadUse {
  readonly #cells: Int32Array;
  readonly #first: number;
  readonly #seed: number;
  /** The bytes of the groups of this thread. */
  readonly #groups = new Float64Array(GROUPS + 1);

  /**
   * Reads and writes the numbers in shared memory.
   *
   * @param buffer Of {@linkcode ThreadUse.bufferFor}.
   * @param thread The thread whose numbers are written here; 0 is the main thread.
   */
  constructor(readonly buffer: SharedArrayBuffer, readonly thread: number) {
    this.#cells = new Int32Array(buffer);
    this.#first = SEED_CELLS + thread * CELLS;
    this.#seed = Atomics.load(this.#cells, 0);
  }

  /** The shared memory for so many threads. */
  static bufferFor(threads: number): SharedArrayBuffer {
    const buffer = new SharedArrayBuffer((SEED_CELLS + threads * CELLS) * Int32Array.BYTES_PER_ELEMENT);
    Atomics.store(new Int32Array(buffer), 0, crypto.getRandomValues(new Int32Array(1))[0]!);
    return buffer;
  }

  /**
   * The group of an account, the same in all threads of a process.
   *
   * @param account Empty for requests without an account.
   */
  groupOf(account: string): number {
    if (account === "") return NO_ACCOUNT_GROUP;
    let hash = this.#seed;
    for (let at = 0; at < account.length; at++) hash = Math.imul(hash ^ account.charCodeAt(at), FNV_PRIME);
    return ((hash ^ (hash >>> 15)) >>> 0) % GROUPS;
  }

  /** Adds to the bytes that the requests of a group hold in this thread; a negative number releases. */
  addToGroup(group: number, bytes: number): void {
    const held = this.#groups[group]! + bytes;
    this.#groups[group] = held;
    Atomics.store(this.#cells, this.#first + TOTALS + group, Math.ceil(held / UNIT_BYTES));
  }

  /** The bytes that the requests of a group hold in all other threads. */
  othersMemoryOf(group: number): number {
    return this.#sumOfOthers(TOTALS + group) * UNIT_BYTES;
  }

  /** Sets all numbers of this thread to 0, when it has ended. */
  clear(): void {
    for (let cell = this.#first; cell < this.#first + CELLS; cell++) Atomics.store(this.#cells, cell, 0);
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
    for (let cell = SEED_CELLS + offset; cell < this.#cells.length; cell += CELLS) {
      if (cell !== this.#first + offset) sum += Atomics.load(this.#cells, cell);
    }
    return sum;
  }
}
