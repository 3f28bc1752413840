import { fullAtAfter, gcra } from "../../platform/store/gcra.ts";

/**
 * The time in which a bucket gains one unit, in milliseconds multiplied by the limit. With that scale every number of a
 * bucket is an integer, so a limit is exact also where a minute is no multiple of it.
 */
const SCALED_MS_PER_UNIT = 60_000;
/** What a bucket can owe, in minutes of its limit. So a vendor that reports a huge usage blocks a key for an hour. */
const MAX_DEBT_MINUTES = 60;

/**
 * A limit per minute of requests or tokens: {@linkcode gcra} with a burst of one minute's amount. Used units refill
 * with time. Reserved units do not, until {@linkcode RateBucket.settle} replaces them by what was used. So used and
 * reserved units never exceed a full bucket, unless more is used than was reserved.
 *
 * Every `now` is in milliseconds of a clock that never goes backwards.
 */
export class RateBucket {
  #fullAt = 0;
  #reserved = 0;
  /** Scaled time starts here, which keeps its numbers small. */
  readonly #startedAt: number;

  /** @param perMinute The limit, a whole number of at least zero. */
  constructor(private perMinute: number, now: number) {
    this.#startedAt = Math.floor(now);
  }

  /** The limit. */
  get limit(): number {
    return this.perMinute;
  }

  /** Changes the limit. What is used and reserved stays used and reserved. */
  setLimit(perMinute: number, now: number): void {
    if (perMinute === this.perMinute) return;
    const used = this.#used(now);
    this.perMinute = perMinute;
    this.#fullAt = this.#scaled(now) + used;
  }

  /** Whether nothing is used or reserved. */
  isFull(now: number): boolean {
    return this.#reserved === 0 && this.#used(now) === 0;
  }

  /** The whole units that are neither used nor reserved; at least zero. */
  leftAt(now: number): number {
    return Math.max(0, Math.floor(this.perMinute - this.#reserved - this.#used(now) / SCALED_MS_PER_UNIT));
  }

  /** Milliseconds until the bucket is full, if everything that is reserved is used now. */
  fullInMs(now: number): number {
    if (this.perMinute === 0) return 0;
    return Math.ceil((this.#used(now) + this.#reserved * SCALED_MS_PER_UNIT) / this.perMinute);
  }

  /**
   * Milliseconds until units can be used or reserved, if everything that is reserved now is used; 0 if they can be
   * now. More units than the limit need a full bucket.
   *
   * @param units At least one.
   */
  waitMs(units: number, now: number): number {
    if (this.perMinute === 0) return SCALED_MS_PER_UNIT;
    const limit = this.#limitOf(Math.min(units, this.perMinute));
    const fullAt = this.#reserved === 0 ? this.#fullAt : this.#afterUse(this.#reserved, now);
    const { waitMs } = gcra(fullAt, this.#scaled(now), limit);
    return Math.ceil(waitMs / this.perMinute);
  }

  /** Uses units. The bucket owes what it does not have. */
  use(units: number, now: number): void {
    if (units > 0) this.#fullAt = this.#afterUse(units, now);
  }

  /** Reserves units, at most a whole bucket, and returns how many. */
  reserve(units: number): number {
    const reserved = Math.min(units, this.perMinute);
    this.#reserved += reserved;
    return reserved;
  }

  /** Ends a reservation and uses what was consumed in its place. */
  settle(reserved: number, used: number, now: number): void {
    this.#reserved -= reserved;
    this.use(used, now);
  }

  #used(now: number): number {
    return Math.max(0, this.#fullAt - this.#scaled(now));
  }

  #afterUse(units: number, now: number): number {
    return fullAtAfter(this.#fullAt, this.#scaled(now), this.#limitOf(units));
  }

  #limitOf(cost: number) {
    const burst = this.perMinute;
    return { perMs: SCALED_MS_PER_UNIT, burst, cost, maxDebt: MAX_DEBT_MINUTES * burst };
  }

  #scaled(now: number): number {
    return (Math.floor(now) - this.#startedAt) * this.perMinute;
  }
}
