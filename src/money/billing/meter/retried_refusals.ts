import { GatewayError } from "../../../platform/lib/basics/gateway_error.ts";
import { type MaybePromise, recover } from "../../../platform/lib/basics/maybe_promise.ts";
import type { LimitedCaller } from "../../limits/limited_caller.ts";
import type { LedgerMeter } from "./meter.ts";

/** A call that was refused. */
export interface RefusedCall<T> {
  readonly caller: LimitedCaller;
  /** `insufficient_credits` or `rate_limited`. */
  readonly refusal: GatewayError;
  /** Tries the call again. */
  readonly act: () => MaybePromise<T>;
}

/**
 * Takes back what others have and do not use, and tries the call again. Null if nobody else has what refused it. It may
 * reject with another refusal.
 */
export type RefusalRetry = <T>(call: RefusedCall<T>) => Promise<T> | null;

/**
 * The calls of a meter of which others have parts: threads of this process, or other processes. No call is refused
 * because of what others have and do not use.
 */
export function retriedRefusals(
  meter: LedgerMeter,
  retry: RefusalRetry,
): Pick<LedgerMeter, "admit" | "admitFree" | "admitHeld" | "probe" | "reserve"> {
  function again<T>(caller: LimitedCaller, act: () => MaybePromise<T>): MaybePromise<T> {
    const afterFailure = (failure: unknown): MaybePromise<T> => {
      const retried = isRefusal(failure) ? retry({ caller, refusal: failure, act }) : null;
      if (retried === null) throw failure;
      return retried;
    };
    let done: MaybePromise<T>;
    try {
      done = act();
    } catch (failure) {
      return afterFailure(failure);
    }
    return recover(done, afterFailure);
  }

  return {
    admit: (caller, reservation) => again(caller, () => meter.admit(caller, reservation)),
    admitFree: (caller) => again(caller, () => meter.admitFree(caller)),
    admitHeld: (caller, reserved) => again(caller, () => meter.admitHeld(caller, reserved)),
    probe: async (caller, reservation) => await again(caller, () => meter.probe(caller, reservation)),
    reserve: (caller, reservation) => again(caller, () => meter.reserve(caller, reservation)),
  };
}

/** Whether a failure is a refusal by money or a limit, which others may have leased. */
export function isRefusal(failure: unknown): failure is GatewayError {
  return failure instanceof GatewayError &&
    (failure.code === "insufficient_credits" || failure.code === "rate_limited");
}
