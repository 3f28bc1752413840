import type { AccessLimits } from "./access_limits.ts";
import type { RateRefusal } from "./limit_refusal.ts";
import type { HolderState } from "./limit_states.ts";
import type { HeldTokens, LimitHolder, TokenEstimate } from "./limited_caller.ts";

/** What a request asks of the limits of one holder. */
export interface LimitDemand {
  readonly state: HolderState;
  readonly estimate: TokenEstimate;
  /** Milliseconds of the monotonic clock. */
  readonly now: number;
}

/** A request whose output is not limited reserves at most this part of a limit of tokens: a tenth. */
const MAX_SHARE_DIVISOR = 10;
/** The wait that is reported when the end of an open call is awaited, which is not known. */
const CONCURRENCY_WAIT_MS = 1_000;

/** The limit of one holder that refuses a request for longest; null if none does. */
export function rateRefusalOf(
  holder: LimitHolder,
  { rpm, tpm, concurrency }: AccessLimits,
  { state, estimate, now }: LimitDemand,
): RateRefusal | null {
  let refusal: RateRefusal | null = null;
  if (concurrency !== undefined && state.open >= concurrency) refusal = tooManyOpen(holder, concurrency);
  if (rpm !== undefined && state.requests !== null) {
    const waitMs = state.requests.waitMs(1, now);
    if (waitMs > 0) refusal = longerWait(refusal, { holder, limit: "rpm", value: rpm, tokens: 0, waitMs });
  }
  if (tpm !== undefined && state.tokens !== null && estimate.tokens !== undefined) {
    const tokens = reservedTokens(estimate, tpm);
    const waitMs = state.tokens.waitMs(tokens, now);
    if (waitMs > 0) refusal = longerWait(refusal, { holder, limit: "tpm", value: tpm, tokens, waitMs });
  }
  return refusal;
}

/** Uses a request of one holder's limits and reserves its tokens, which are added to `held`. */
export function takeRate({ rpm, tpm }: AccessLimits, { state, estimate, now }: LimitDemand, held: HeldTokens[]): void {
  if (rpm !== undefined) state.requests?.use(1, now);
  if (tpm === undefined || state.tokens === null || estimate.tokens === undefined) return;
  const reserved = state.tokens.reserve(reservedTokens(estimate, tpm));
  held.push({ bucket: state.tokens, reserved });
}

/**
 * The tokens that a request reserves of a limit. What was only assumed is reserved up to a tenth of the limit, so that
 * requests without an output limit can run side by side.
 */
export function reservedTokens({ tokens = 0, knownTokens = tokens }: TokenEstimate, tpm: number): number {
  return Math.max(1, Math.min(tokens, Math.max(knownTokens, Math.floor(tpm / MAX_SHARE_DIVISOR))));
}

/** A refusal by a limit of open calls. */
export function tooManyOpen(holder: LimitHolder, value: number): RateRefusal {
  return { holder, limit: "concurrency", value, tokens: 0, waitMs: CONCURRENCY_WAIT_MS };
}

/** Of two refusals the one that lasts longer. */
export function longerWait(one: RateRefusal | null, other: RateRefusal | null): RateRefusal | null {
  if (one === null || other === null) return one ?? other;
  return other.waitMs > one.waitMs ? other : one;
}
