import { gcra } from "../../../platform/store/gcra.ts";
import { MAX_RETRY_AFTER_SECONDS } from "../tasks/poll_schedule.ts";

const MIN_PAUSE_MS = 2_000;
/** Maximum pause without a `Retry-After`. */
const MAX_OWN_PAUSE_MS = 60_000;

/**
 * Limits how fast one provider is polled: a rate per second, and pauses after a rate limit response. A pause applies to
 * all tasks of the provider, so one response is enough. All instants are monotonic.
 */
export class PollPace {
  readonly #perMs: number;
  readonly #burst: number;
  #fullAt = 0;
  #pausedUntil = -Infinity;
  #refusalsInARow = 0;

  /** @param perSecond Requests per second; unused requests expire after a second. */
  constructor(perSecond: number) {
    this.#perMs = 1_000 / perSecond;
    this.#burst = Math.max(1, Math.floor(perSecond));
  }

  /** Returns the milliseconds until a poll may be sent; 0 for now. */
  waitMs(now: number): number {
    const { waitMs } = gcra(this.#fullAt, now, { perMs: this.#perMs, burst: this.#burst, cost: 1 });
    return Math.max(waitMs, this.#pausedUntil - now);
  }

  /** Returns the monotonic instant at which a pause ends; null without one. */
  pausedUntil(now: number): number | null {
    return this.#pausedUntil > now ? this.#pausedUntil : null;
  }

  /** Counts a poll that is sent. */
  spend(now: number): void {
    this.#fullAt = gcra(this.#fullAt, now, { perMs: this.#perMs, burst: this.#burst, cost: 1 }).fullAt;
  }

  /** Resets the backoff after a successful poll. */
  onAnswer(): void {
    this.#refusalsInARow = 0;
  }

  /**
   * Starts a pause after the vendor rejected a poll because of a rate limit or overload.
   *
   * @param retryAfterSeconds The vendor's `Retry-After`, honoured up to an hour. Default: pauses double from 2 to 60 s.
   * @returns The pause, in milliseconds.
   */
  onRefusal(now: number, retryAfterSeconds: number | undefined): number {
    const ownMs = Math.min(MIN_PAUSE_MS * 2 ** this.#refusalsInARow, MAX_OWN_PAUSE_MS);
    // Concurrent polls are rejected together and count once.
    if (now >= this.#pausedUntil) this.#refusalsInARow++;
    const pauseMs = retryAfterSeconds === undefined
      ? ownMs
      : Math.min(retryAfterSeconds, MAX_RETRY_AFTER_SECONDS) * 1_000;
    this.#pausedUntil = Math.max(this.#pausedUntil, now + pauseMs);
    return pauseMs;
  }
}
