/** Numbers of a {@linkcode ConcurrencyWindow}. */
export interface WindowLimits {
  readonly initial: number;
  readonly min: number;
  readonly max: number;
}

/** How many attempts that hung, without another between, tell of more than a bad moment. */
const HANGING = 3;

/**
 * How many attempts may run at once at something that may hang: one more after each attempt that ended soon, half as
 * many after each that hung. Additive increase and multiplicative decrease, as in TCP's congestion avoidance (RFC 5681,
 * 3.1).
 */
export class ConcurrencyWindow {
  readonly #limits: WindowLimits;
  #size: number;
  #hungInARow = 0;

  /** Starts at `initial`. */
  constructor(limits: WindowLimits) {
    this.#limits = limits;
    this.#size = limits.initial;
  }

  /** Attempts that may run at once. */
  get size(): number {
    return this.#size;
  }

  /** Whether the last three attempts hung. One or two may be a receiver's bad moment, or our own. */
  get isHanging(): boolean {
    return this.#hungInARow >= HANGING;
  }

  /** Counts an attempt that ended. */
  note(hung: boolean): void {
    this.#hungInARow = hung ? this.#hungInARow + 1 : 0;
    const { min, max } = this.#limits;
    this.#size = hung ? Math.max(min, Math.floor(this.#size / 2)) : Math.min(max, this.#size + 1);
  }
}
