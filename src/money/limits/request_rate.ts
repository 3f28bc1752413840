import { GatewayError } from "../../platform/lib/basics/gateway_error.ts";
import { gcra } from "../../platform/store/gcra.ts";
import type { Store } from "../../platform/store/store.ts";

/** How many requests of a kind one holder may make: `requests` in `perMs`, and `burst` of them at once. */
export interface RateTerms {
  readonly requests: number;
  /** Milliseconds. */
  readonly perMs: number;
  readonly burst: number;
}

/** Result of counting one request, with response headers. */
export interface CountedRequest {
  readonly ok: boolean;
  /** Whole seconds, at least 1, until a rejected request would be allowed. */
  readonly retryAfterSeconds: number;
  /** `RateLimit` and `RateLimit-Policy` (draft-ietf-httpapi-ratelimit-headers). */
  readonly headers: Readonly<Record<string, string>>;
}

const FORGET_FROM = 4_096;

/**
 * Limits how often one holder, such as a key, may make a kind of request. Every request counts before anything is read,
 * also one for what does not exist. The store decides, so that all gateways on it count together; a copy of its bucket
 * in this process provides the remaining count.
 */
export class RequestRate {
  readonly #fullAt = new Map<string, number>();
  readonly #perMs: number;
  readonly #burst: number;
  readonly #policy: string;

  /** @param name The kind of request, as in header fields: `video-polling`. */
  constructor(private readonly store: Pick<Store, "take" | "now">, readonly name: string, readonly terms: RateTerms) {
    this.#perMs = terms.perMs / terms.requests;
    this.#burst = Math.max(terms.burst, 1);
    this.#policy = `"${name}";q=${terms.requests};w=${Math.max(Math.round(terms.perMs / 1000), 1)}`;
  }

  /** Counts one request. */
  async take(holder: string): Promise<CountedRequest> {
    const terms = { perMs: this.#perMs, burst: this.#burst, cost: 1 };
    const { ok, waitMs } = await this.store.take(`${this.name.replaceAll("-", "_")} ${holder}`, terms);
    const now = this.store.now();
    const fullAt = this.#countHere(holder, ok, now);
    const left = ok ? Math.max(Math.floor(this.#burst - (fullAt - now) / this.#perMs), 0) : 0;
    const seconds = Math.max(Math.ceil((ok ? fullAt - now : waitMs) / 1000), 1);
    const headers = { "ratelimit-policy": this.#policy, "ratelimit": `"${this.name}";r=${left};t=${seconds}` };
    return { ok, retryAfterSeconds: seconds, headers };
  }

  #countHere(holder: string, ok: boolean, now: number): number {
    const before = this.#fullAt.get(holder) ?? 0;
    if (!ok) return Math.max(before, now);
    const { fullAt } = gcra(before, now, { perMs: this.#perMs, burst: this.#burst, cost: 1 });
    this.#fullAt.set(holder, fullAt);
    if (this.#fullAt.size >= FORGET_FROM) {
      for (const [each, until] of this.#fullAt) if (until <= now) this.#fullAt.delete(each);
    }
    return fullAt;
  }
}

/**
 * Creates the 429 for a request above a rate.
 *
 * @param what The kind of request, for people: `video task requests`.
 */
export function rateExceeded(what: string, { retryAfterSeconds }: CountedRequest): GatewayError {
  const message = `Rate limit for ${what} exceeded: retry after ${retryAfterSeconds} s`;
  return new GatewayError("rate_limited", message, { retryAfterSeconds });
}
