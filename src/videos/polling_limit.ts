import { GatewayError } from "../lib/gateway_error.ts";
import { gcra } from "../store/gcra.ts";
import type { Store } from "../store/store.ts";

/** Polling rate of one credential: `requests` in `perMs`, plus `burst`. */
export interface PollingRate {
  /** Default: 60. */
  readonly requests: number;
  /** Milliseconds. Default: 60 s. */
  readonly perMs: number;
  /** Default: 10. */
  readonly burst: number;
}

/** Result of counting one poll, with response headers. */
export interface PollingDecision {
  readonly ok: boolean;
  /** Whole seconds, at least 1, until a rejected poll would be allowed. */
  readonly retryAfterSeconds: number;
  /** `RateLimit` and `RateLimit-Policy` (draft-ietf-httpapi-ratelimit-headers). */
  readonly headers: Readonly<Record<string, string>>;
}

const FORGET_FROM = 4_096;

/**
 * Limits how often one credential may poll its tasks. Every poll counts before anything is read, also for a task that
 * does not exist. The store decides; a copy of its bucket in this process provides the remaining count.
 */
export class PollingLimit {
  readonly #fullAt = new Map<string, number>();
  readonly #perMs: number;
  readonly #burst: number;
  readonly #policy: string;

  constructor(private readonly store: Store, terms: PollingRate) {
    this.#perMs = terms.perMs / terms.requests;
    this.#burst = Math.max(terms.burst, 1);
    this.#policy = `"video-polling";q=${terms.requests};w=${Math.max(Math.round(terms.perMs / 1000), 1)}`;
  }

  /** Counts one poll. */
  async take(keyId: string): Promise<PollingDecision> {
    const terms = { perMs: this.#perMs, burst: this.#burst, cost: 1 };
    const { ok, waitMs } = await this.store.take(`video_polling ${keyId}`, terms);
    const now = this.store.now();
    const fullAt = this.#countHere(keyId, ok, now);
    const left = ok ? Math.max(Math.floor(this.#burst - (fullAt - now) / this.#perMs), 0) : 0;
    const seconds = Math.max(Math.ceil((ok ? fullAt - now : waitMs) / 1000), 1);
    const headers = { "ratelimit-policy": this.#policy, "ratelimit": `"video-polling";r=${left};t=${seconds}` };
    return { ok, retryAfterSeconds: seconds, headers };
  }

  #countHere(keyId: string, ok: boolean, now: number): number {
    const before = this.#fullAt.get(keyId) ?? 0;
    if (!ok) return Math.max(before, now);
    const { fullAt } = gcra(before, now, { perMs: this.#perMs, burst: this.#burst, cost: 1 });
    this.#fullAt.set(keyId, fullAt);
    if (this.#fullAt.size >= FORGET_FROM) {
      for (const [each, until] of this.#fullAt) if (until <= now) this.#fullAt.delete(each);
    }
    return fullAt;
  }
}

/** Creates the error for a poll above the limit. Source: docs/api/videos.md#polling-limit. */
export function pollingLimitExceeded({ retryAfterSeconds }: PollingDecision): GatewayError {
  const message = `Rate limit for video task requests exceeded: retry after ${retryAfterSeconds} s`;
  return new GatewayError("rate_limited", message, { retryAfterSeconds });
}
