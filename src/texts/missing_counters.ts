import type { Clock } from "../lib/clock.ts";
import type { UpstreamFailure } from "../upstreams/failure.ts";

/** For how long a vendor that has no token counter is not asked again. */
const REMEMBERED_MS = 600_000;

/**
 * Vendors that only resemble a format's author, and whose token counter turned out not to exist. Kept by provider and
 * by the vendor's name of the model, so that what is asked of one model says nothing of another; as many as there are
 * of both.
 */
export class MissingCounters {
  readonly #until = new Map<string, number>();

  constructor(readonly clock: Pick<Clock, "monotonicMs">) {}

  /** The provider has no counter for the model. */
  add(provider: string, model: string): void {
    this.#until.set(keyOf(provider, model), this.clock.monotonicMs() + REMEMBERED_MS);
  }

  /** Whether that was found within the last ten minutes. */
  has(provider: string, model: string): boolean {
    const until = this.#until.get(keyOf(provider, model));
    return until !== undefined && until > this.clock.monotonicMs();
  }
}

function keyOf(provider: string, model: string): string {
  return `${provider}\n${model}`; // neither holds a line break
}

/**
 * Whether a counter's refusal says that there is none: the path or its method is not served. A 404 with
 * a machine word whose text names the model is about the model, which the turn itself would not find either.
 *
 * @param model The vendor's name of the model.
 */
export function saysNoCounter({ facts: { status, vendorCode }, message }: UpstreamFailure, model: string): boolean {
  if (status === 404) return vendorCode === undefined || !message.includes(model);
  return status === 405 || status === 501;
}
