/** Limits of a {@linkcode ConcurrencyWindow}. */
export interface WindowLimits {
  readonly initial: number;
  readonly min: number;
  readonly max: number;
}

/** Number of consecutive hung attempts from which a window counts as hanging. */
const HANGING = 3;

/**
 * Number of concurrent attempts allowed to a destination that may hang. The window grows by one after each attempt that
 * ended quickly and halves after each that hung. This is additive increase and multiplicative decrease, as in TCP
 * congestion avoidance (RFC 5681, 3.1).
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

  /** Maximum number of concurrent attempts now. */
  get size(): number {
    return this.#size;
  }

  /**
   * Whether the last three attempts hung. One or two may be a short disturbance of the receiver or of this process.
   */
  get isHanging(): boolean {
    return this.#hungInARow >= HANGING;
  }

  /** Counts a completed attempt. */
  record(hung: boolean): void {
    this.#hungInARow = hung ? this.#hungInARow + 1 : 0;
    const { min, max } = this.#limits;
    this.#size = hung ? Math.max(min, Math.floor(this.#size / 2)) : Math.min(max, this.#size + 1);
  }
}
