/** How long the machine's monotonic clock is not read. */
const RESYNC_MS = 50;

/**
 * The machine's monotonic clock in whole milliseconds. Reading it costs ten times as much as `Date.now`, and a request
 * needs it several times. It is therefore read every {@linkcode RESYNC_MS}, and `Date.now` tells the time since then.
 * A change of the machine's clock has an effect only until the next read: this one is ahead by less than
 * {@linkcode RESYNC_MS}, or behind by what the machine's clock was set back.
 */
export class MonotonicClock {
  #readAt = NaN;
  #base = 0;
  #last = 0;

  /**
   * @param wallMs The machine's clock, which may be changed.
   * @param monotonicMs Its monotonic clock.
   */
  constructor(readonly wallMs: () => number, readonly monotonicMs: () => number) {}

  /** The time; never less than before. */
  ms(): number {
    const now = this.wallMs();
    const passed = now - this.#readAt;
    if (passed >= 0 && passed < RESYNC_MS) return this.#last = Math.max(this.#last, this.#base + passed);
    this.#readAt = now;
    this.#base = Math.floor(this.monotonicMs());
    return this.#last = Math.max(this.#last, this.#base);
  }
}
