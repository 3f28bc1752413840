import type { Continuation } from "../../../conversation/contract/continuation.ts";
import { promptTokensOf, type Usage } from "../../../conversation/neutral/usage.ts";
import type { JsonObject } from "../../../platform/lib/json/json_object.ts";
import { type AttemptHops, outputLimitOf, type TextAttempt } from "../plan/attempt.ts";
import { costOfText } from "../charge/charge_text.ts";

/** The most requests for one reply, whatever the reservation covers. */
export const MAX_HOPS = 64;

/** The requests that make one reply, and their usage together. */
export class Hops implements AttemptHops {
  /** The requests so far. */
  count = 1;
  /** The usage of earlier requests, as the vendor writes it. */
  #earlier: JsonObject | null = null;
  /** The usage of all requests so far. */
  #latest: JsonObject | null = null;
  /** The prompt tokens of the first request. */
  #firstPromptTokens = 0;
  #token: string | null = null;
  /** The token that was sent last. A vendor that returns it makes no progress. */
  #sentToken: string | null = null;
  #isPaused = false;

  /** @param keepsEnd Whether the caller may read a reply that pauses, and go on by itself. */
  constructor(readonly continuation: Continuation, readonly keepsEnd: boolean) {}

  /** Whether the reply pauses. */
  get isPaused(): boolean {
    return this.#isPaused;
  }

  /** Reads a reply or a chunk of it. Returns it with the usage of all requests. */
  observe(body: JsonObject): JsonObject {
    const { token, isPaused } = this.continuation.pauseIn(body);
    this.#token = token ?? this.#token;
    this.#isPaused = isPaused;
    const whole = this.continuation.withUsage(body, this.#earlier);
    this.#latest = this.continuation.usageIn(whole) ?? this.#latest;
    return whole;
  }

  /** The usage of all requests so far; null if none was reported. */
  usageAt({ endpoint }: Pick<TextAttempt, "endpoint">): Usage | null {
    return this.#latest === null ? null : endpoint.format.readUsage(this.#latest);
  }

  /** The prompt tokens of the last request, which decide on its price. */
  promptTokensAt(attempt: Pick<TextAttempt, "endpoint">): number {
    const [all, before] = [this.usageAt(attempt), this.#earlier && attempt.endpoint.format.readUsage(this.#earlier)];
    return (all === null ? 0 : promptTokensOf(all)) - (before === null ? 0 : promptTokensOf(before));
  }

  /**
   * Whether one more request may be sent: the caller's limit is not reached, and the reservation covers the prompt, the
   * output so far as a prompt, and the rest of the output.
   */
  canGoOn(attempt: TextAttempt): boolean {
    const usage = this.usageAt(attempt);
    if (usage === null || this.#token === null || this.#token === this.#sentToken || this.count >= MAX_HOPS) {
      return false;
    }
    const limit = outputLimitOf(attempt) ?? attempt.measure.outputTokens;
    if (usage.outputTokens >= limit) return false;
    if (this.count === 1) this.#firstPromptTokens = promptTokensOf(usage);
    const read = this.#firstPromptTokens + usage.outputTokens;
    const highest = { ...usage, freshTokens: usage.freshTokens + read, outputTokens: limit };
    return costOfText(attempt, highest) <= attempt.settlement.admission.reserved.amount;
  }

  /** Begins the next request, and returns its token. */
  next(): string {
    if (this.#token === null) throw new Error("Cannot go on with a reply: it has no token");
    this.#sentToken = this.#token;
    this.#isPaused = false;
    this.#earlier = this.#latest;
    this.count++;
    return this.#sentToken;
  }

  /** The end of a reply that pauses and does not go on. */
  ended(body: JsonObject): JsonObject {
    return this.keepsEnd ? body : this.continuation.limited(body);
  }
}
