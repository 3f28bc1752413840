import type { Clock } from "../../platform/lib/basics/clock.ts";
import { GatewayError } from "../../platform/lib/basics/gateway_error.ts";
import { holdWork } from "../../platform/lib/basics/held.ts";
import { errorName, type Log } from "../../platform/lib/basics/log.ts";
import type { PriceFeed } from "./price_feed.ts";

/** Options of {@linkcode PriceSchedule}. */
export interface PriceScheduleOptions {
  readonly feed: PriceFeed;
  readonly clock: Clock;
  readonly log: Log;
  /** Uniform in [0, 1). */
  readonly random: () => number;
}

const MIN_RETRY_MS = 60_000;

/**
 * Reads a price source again and again, with 10 % jitter. After a failure it is read again after a minute, two and so
 * on up to the usual time.
 */
export class PriceSchedule {
  #retryMs = MIN_RETRY_MS;
  #isReportedStale = false;
  #isClosed = false;
  #stopTimer: () => void = () => {};

  constructor(readonly options: PriceScheduleOptions) {}

  /** Starts to read the source, now if it is due. */
  start(): void {
    this.#readAfter(this.options.feed.dueInMs);
  }

  /** Stops reading. A reading that is under way ends. */
  async close(): Promise<void> {
    this.#isClosed = true;
    this.#stopTimer();
    await this.options.feed.close();
  }

  #readAfter(delayMs: number): void {
    if (this.#isClosed) return;
    this.#stopTimer = this.options.clock.after(delayMs, () => holdWork(this.#read()));
  }

  async #read(): Promise<void> {
    const { feed, random, log } = this.options;
    const { everyMs } = feed.options.settings;
    const jitter = 0.9 + 0.2 * random();
    let delayMs = everyMs;
    try {
      await feed.readIfDue();
      this.#retryMs = MIN_RETRY_MS;
    } catch (error) {
      if (this.#isClosed) return;
      log.warn("prices_not_read", { reason: error instanceof GatewayError ? error.message : errorName(error) });
      delayMs = Math.min(this.#retryMs, everyMs);
      this.#retryMs *= 2;
    }
    this.#reportStale();
    this.#readAfter(delayMs * jitter);
  }

  /** Reported once, until the source can be read again. */
  #reportStale(): void {
    const { feed } = this.options;
    const { staleSince } = feed;
    if (staleSince !== null && !this.#isReportedStale) {
      feed.options.onChanged({ revision: null, applied: [], pending: feed.status.pending, staleSince });
    }
    this.#isReportedStale = staleSince !== null;
  }
}
