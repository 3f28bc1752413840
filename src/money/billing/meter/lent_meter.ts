import { GatewayError } from "../../../platform/lib/basics/gateway_error.ts";
import { type MaybePromise, recover } from "../../../platform/lib/basics/maybe_promise.ts";
import type { LimitedCaller } from "../../limits/limited_caller.ts";
import type { LedgerMeter } from "./meter.ts";

/** The threads that lease parts of accounts. */
export interface Borrowers {
  /**
   * Ends the leases of an account, or of one of its keys, and then does something with what they gave back. Null if
   * there are no such leases.
   */
  recalled<T>(accountId: string, keyId: string | null, act: () => MaybePromise<T>): Promise<T> | null;
  /** Resolves when all charges of an account are with this thread. Null if threads have no lease of it. */
  reported(accountId: string): Promise<void> | null;
  /** Resolves when all charges are with this thread. */
  allReported(): Promise<void>;
}

/**
 * A meter of which threads lease parts. Nothing is refused because of what a thread leases and does not use: it is
 * taken back first. Its amounts are exact.
 */
export function lentMeter(meter: LedgerMeter, borrowers: Borrowers): LedgerMeter {
  /** Does something again after a refusal, with what threads gave back. */
  function again<T>(caller: LimitedCaller, act: () => MaybePromise<T>): MaybePromise<T> {
    const afterRefusal = (failure: unknown): MaybePromise<T> => {
      const recalled = isRefusal(failure)
        ? borrowers.recalled(caller.accountId, keyOfRefusal(caller, failure), act)
        : null;
      if (recalled === null) throw failure;
      return recalled;
    };
    let done: MaybePromise<T>;
    try {
      done = act();
    } catch (failure) {
      return afterRefusal(failure);
    }
    return recover(done, afterRefusal);
  }

  function exactly<T>(accountId: string, act: () => MaybePromise<T>): MaybePromise<T> {
    return borrowers.recalled(accountId, null, act) ?? act();
  }

  return {
    ...meter,
    admit: (caller, reservation) => again(caller, () => meter.admit(caller, reservation)),
    admitFree: (caller) => again(caller, () => meter.admitFree(caller)),
    admitHeld: (caller, reserved) => again(caller, () => meter.admitHeld(caller, reserved)),
    probe: async (caller, reservation) => await again(caller, () => meter.probe(caller, reservation)),
    reserve: (caller, reservation) => again(caller, () => meter.reserve(caller, reservation)),
    allowance: (caller) => exactly(caller.accountId, () => meter.allowance(caller)),
    limitsLeft: async (caller) => await exactly(caller.accountId, () => meter.limitsLeft(caller)),
    recall: (accountId) => borrowers.recalled(accountId, null, () => {}) ?? undefined,
    settle(accountId) {
      const reported = borrowers.reported(accountId);
      return reported === null ? meter.settle(accountId) : reported.then(() => meter.settle(accountId));
    },
    async settleAll() {
      await borrowers.allReported();
      await meter.settleAll();
    },
  };
}

/** Whether a failure is a refusal by money or a limit, which others may have leased. */
export function isRefusal(failure: unknown): failure is GatewayError {
  return failure instanceof GatewayError &&
    (failure.code === "insufficient_credits" || failure.code === "rate_limited");
}

/** Leases of other keys do not matter if a limit of the key refuses. Null if they do. */
function keyOfRefusal({ keyId }: LimitedCaller, { details: { quota } }: GatewayError): string | null {
  return quota?.holder === "key" ? keyId : null;
}
