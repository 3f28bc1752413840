import { holdWork } from "../basics/held.ts";

/** Where the threads of a process pause each other, in memory that they share. Positions count 32-bit integers. */
export interface PauseMemory {
  readonly ints: Int32Array;
  /** The position that holds 1 during a pause. */
  readonly paused: number;
  /** The position of each thread. It holds 0 for a thread that accepts no connections. */
  readonly threads: readonly number[];
  /** The position of this thread. */
  readonly own: number;
}

const ACCEPTS = 1;
const RESTS = 2;

/** How long a start of a thread waits for the other threads. The event loop of this thread stands still meanwhile. */
const MAX_WAIT_MS = 15;
/** How long a thread rests at most. The start of a thread takes some milliseconds, and many more on a busy machine. */
const MAX_REST_MS = 2_000;

/**
 * Keeps other threads from accepting connections for some milliseconds.
 *
 * The platform accepts connections on its own as long as descriptors are free, in each thread that listens, and ends
 * the process if a thread that starts finds none. A thread whose event loop stands still accepts nothing.
 */
export class AcceptPause {
  #listeners = 0;

  /** @param memory Where the threads of this process pause each other. */
  constructor(readonly memory: PauseMemory) {}

  /** Whether another thread accepts connections. */
  get hasOthers(): boolean {
    return this.#others().length > 0;
  }

  /**
   * Says that this thread accepts connections, so that others can pause it.
   *
   * @returns A function to call when the listener is closed.
   */
  join(): () => void {
    if (this.#listeners++ === 0) {
      Atomics.store(this.memory.ints, this.memory.own, ACCEPTS);
      holdWork(this.#obey());
    }
    return () => {
      if (--this.#listeners === 0) Atomics.store(this.memory.ints, this.memory.own, 0);
    };
  }

  /**
   * Calls a function while no other thread accepts connections.
   *
   * @returns What it returns; null if the other threads did not pause in time, and then it was not called.
   */
  during<T>(run: () => T): T | null {
    const { ints, paused } = this.memory;
    const until = performance.now() + MAX_WAIT_MS;
    if (!this.#begin(until)) return null;
    try {
      return this.#othersRest(until) ? run() : null;
    } finally {
      Atomics.store(ints, paused, 0);
      Atomics.notify(ints, paused);
    }
  }

  /** Begins a pause; false if that of another thread lasts too long. */
  #begin(until: number): boolean {
    const { ints, paused } = this.memory;
    while (Atomics.compareExchange(ints, paused, 0, 1) !== 0) {
      const leftMs = until - performance.now();
      if (leftMs <= 0) return false;
      this.#rest(leftMs);
    }
    Atomics.notify(ints, paused);
    return true;
  }

  #othersRest(until: number): boolean {
    const { ints } = this.memory;
    return this.#others().every((at) =>
      Atomics.wait(ints, at, ACCEPTS, Math.max(0, until - performance.now())) !== "timed-out"
    );
  }

  #others(): readonly number[] {
    const { ints, threads, own } = this.memory;
    return threads.filter((at) => at !== own && Atomics.load(ints, at) !== 0);
  }

  /** Rests whenever another thread asks for it. Ends with the last listener of this thread. */
  async #obey(): Promise<void> {
    const { ints, paused } = this.memory;
    // Ends with the last listener, and pauses until another thread asks.
    while (this.#listeners > 0) {
      const asked = Atomics.waitAsync(ints, paused, 0);
      if (asked.async) await asked.value;
      if (this.#listeners === 0) return;
      // Whoever asked for so long has ended meanwhile, and cannot end the pause.
      if (!this.#rest(MAX_REST_MS)) Atomics.compareExchange(ints, paused, 1, 0);
    }
  }

  /** Stands still until the pause ends; false if it does not in this time. */
  #rest(maxMs: number): boolean {
    const { ints, paused, own } = this.memory;
    const accepts = Atomics.compareExchange(ints, own, ACCEPTS, RESTS) === ACCEPTS;
    if (accepts) Atomics.notify(ints, own);
    const isOver = Atomics.wait(ints, paused, 1, maxMs) !== "timed-out";
    if (accepts) Atomics.compareExchange(ints, own, RESTS, ACCEPTS);
    return isOver;
  }
}
