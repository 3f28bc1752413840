/** Rows per second that one address can cause without a valid key. */
const ANONYMOUS_ROWS_PER_SECOND = 5;
/** Rows per second that all addresses can cause together without a valid key. */
const ANONYMOUS_ROWS_PER_SECOND_OF_ALL = 100;

/**
 * Limits the rows of requests without an account, so that unknown keys do not flood the log. Counts begin anew each
 * second.
 */
export class AnonymousLimit {
  #second = 0;
  #total = 0;
  readonly #byAddress = new Map<string, number>();

  /**
   * Whether another row of this address is within the limits.
   *
   * @param now Unix milliseconds.
   */
  take(address: string, now: number): boolean {
    const second = Math.floor(now / 1_000);
    if (second !== this.#second) {
      this.#second = second;
      this.#total = 0;
      this.#byAddress.clear();
    }
    const rows = this.#byAddress.get(address) ?? 0;
    if (rows >= ANONYMOUS_ROWS_PER_SECOND || this.#total >= ANONYMOUS_ROWS_PER_SECOND_OF_ALL) return false;
    this.#byAddress.set(address, rows + 1);
    this.#total++;
    return true;
  }
}
