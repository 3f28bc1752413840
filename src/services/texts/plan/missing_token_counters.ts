import type { Clock } from "../../../platform/lib/basics/clock.ts";
import { ERROR_TEXTS } from "../../../vendors/upstreams/call/error_texts.ts";
import type { UpstreamFailure } from "../../../vendors/upstreams/call/failure.ts";

/** How long no request is sent to a token counter that was found missing. */
const MISSING_FOR_MS = 600_000;

/**
 * Token counters that were found missing at vendors that imitate another vendor's format. Kept by provider and by the
 * vendor's name of the model, so one model's result does not apply to another. The size is bounded by the number of
 * both.
 */
export class MissingTokenCounters {
  readonly #until = new Map<string, number>();

  constructor(readonly clock: Pick<Clock, "monotonicMs">) {}

  /** Records that the provider has no counter for the model. */
  add(provider: string, model: string): void {
    this.#until.set(keyOf(provider, model), this.clock.monotonicMs() + MISSING_FOR_MS);
  }

  /** Whether a missing counter was recorded within the last ten minutes. */
  has(provider: string, model: string): boolean {
    const until = this.#until.get(keyOf(provider, model));
    return until !== undefined && until > this.clock.monotonicMs();
  }
}

function keyOf(provider: string, model: string): string {
  return `${provider}\n${model}`; // neither holds a line break
}

/**
 * Whether an error of a counter means that there is no counter: the path or its method is not served, or the message
 * is that of a vendor without a counter for the model. A 404 with an error code whose message names the model concerns
 * the model, which the text request would not find either.
 *
 * @param model The vendor's name of the model.
 */
export function isMissingTokenCounter(
  { facts: { status, vendorCode }, message }: UpstreamFailure,
  model: string,
): boolean {
  if (status === 404) return vendorCode === undefined || !message.includes(model);
  return status === 405 || status === 501 || ERROR_TEXTS.bedrockNoTokenCounter.test(message);
}
