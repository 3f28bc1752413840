import { gcra } from "../../store/gcra.ts";
import { MAX_RETRY_AFTER_SECONDS } from "./poll_schedule.ts";

const MIN_PAUSE_MS = 2_000;
/** Of pauses that the vendor did not ask for. */
const MAX_OWN_PAUSE_MS = 60_000;

/**
 * How fast one provider may be polled: its budget of requests a second, and not at all while it asks to be left alone.
 * A pause holds for all of its tasks, so that none of them has to learn it by a refusal of its own. All instants are
 * monotonic.
 */
export class PollPace {
  readonly #perMs: number;
  readonly #burst: number;
  #fullAt = 0;
  #pausedUntil = -Infinity;
  #refusalsInARow = 0;

  /** @param perSecond The budget; what was not used within a second is lost. */
  constructor(perSecond: number) {
    this.#perMs = 1_000 / perSecond;
    this.#burst = Math.max(1, Math.floor(perSecond));
  }

  /** Milliseconds until a poll may go out; 0 for now. */
  waitMs(now: number): number {
    const { waitMs } = gcra(this.#fullAt, now, { perMs: this.#perMs, burst: this.#burst, cost: 1 });
    return Math.max(waitMs, this.#pausedUntil - now);
  }

  /** A poll goes out. */
  spend(now: number): void {
    this.#fullAt = gcra(this.#fullAt, now, { perMs: this.#perMs, burst: this.#burst, cost: 1 }).fullAt;
  }

  /** The vendor answered a poll. */
  onAnswer(): void {
    this.#refusalsInARow = 0;
  }

  /**
   * The vendor refused a poll because there are too many, or because it is overloaded.
   *
   * @param retryAfterSeconds What it requested, obeyed up to an hour; without it pauses double from 2 to 60 s.
   * @returns The pause, in milliseconds.
   */
  onRefusal(now: number, retryAfterSeconds: number | undefined): number {
    const ownMs = Math.min(MIN_PAUSE_MS * 2 ** this.#refusalsInARow, MAX_OWN_PAUSE_MS);
    // Polls that were under way together are refused together, and count once.
    if (now >= this.#pausedUntil) this.#refusalsInARow++;
    const pauseMs = retryAfterSeconds === undefined
      ? ownMs
      : Math.min(retryAfterSeconds, MAX_RETRY_AFTER_SECONDS) * 1_000;
    this.#pausedUntil = Math.max(this.#pausedUntil, now + pauseMs);
    return pauseMs;
  }
}
