/** The number of holders from which on those that hold nothing are removed. */
const MIN_CLEANUP_SIZE = 1_024;

/**
 * How many units each holder has: places, bytes or calls of accounts, keys or providers.
 *
 * One that holds nothing stays until the next clean-up. Source: docs/decisions/0104-short-lived-objects.md.
 */
export class Holdings {
  readonly #held = new Map<string, number>();
  #cleanupSize = MIN_CLEANUP_SIZE;
  #total = 0;
  #holders = 0;

  /** The units of all holders. */
  get total(): number {
    return this.#total;
  }

  /** The number of holders that have a unit. */
  get holders(): number {
    return this.#holders;
  }

  /** The number of holders in memory. */
  get size(): number {
    return this.#held.size;
  }

  /** The units of one holder. */
  of(holder: string): number {
    return this.#held.get(holder) ?? 0;
  }

  /** Adds to the units of a holder; a negative number takes from them. */
  add(holder: string, units: number): void {
    if (units === 0) return;
    const before = this.of(holder);
    const after = before + units;
    this.#held.set(holder, after);
    this.#total += units;
    this.#holders += Number(after > 0) - Number(before > 0);
    if (this.#held.size > this.#cleanupSize) this.#removeIdle();
  }

  /**
   * Takes a unit for each of several holders, or none if one of them has reached its limit.
   *
   * @returns Gives them back; a second call has no effect. Null if none was taken.
   */
  take(limits: readonly (readonly [holder: string, limit: number])[]): (() => void) | null {
    if (limits.some(([holder, limit]) => this.of(holder) >= limit)) return null;
    for (const [holder] of limits) this.add(holder, 1);
    let isHeld = true;
    return () => {
      if (isHeld) { for (const [holder] of limits) this.add(holder, -1); }
      isHeld = false;
    };
  }

  // Runs only when the number of holders has doubled, so that the average cost of an addition stays constant.
  #removeIdle(): void {
    for (const [holder, units] of this.#held) if (units === 0) this.#held.delete(holder);
    this.#cleanupSize = Math.max(MIN_CLEANUP_SIZE, 2 * this.#held.size);
  }
}

/**
 * How much one holder may have of what several share: a part of what the others leave. With 1/2, one holder gets half
 * while it is alone, and each of n holders one part in n + 1, so that something always stays free for the next one.
 * This is the dynamic threshold of shared-memory switches (Choudhury and Hahne, IEEE/ACM Transactions on Networking
 * 6(2), 1998).
 *
 * @param part Above 0 and below 1.
 */
export function shareOfRest(all: number, ofOthers: number, part: number): number {
  return (all - ofOthers) * part;
}
