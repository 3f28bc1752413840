import type { GatewayError } from "../../../platform/lib/basics/gateway_error.ts";
import type { MaybePromise } from "../../../platform/lib/basics/maybe_promise.ts";
import type { LimitedCaller } from "../../limits/limited_caller.ts";
import type { LedgerMeter } from "./meter.ts";
import { retriedRefusals } from "./retried_refusals.ts";

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
  function exactly<T>(accountId: string, act: () => MaybePromise<T>): MaybePromise<T> {
    return borrowers.recalled(accountId, null, act) ?? act();
  }

  return {
    ...meter,
    ...retriedRefusals(
      meter,
      ({ caller, refusal, act }) => borrowers.recalled(caller.accountId, keyOfRefusal(caller, refusal), act),
    ),
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

/** Leases of other keys do not matter if a limit of the key refuses. Null if they do. */
function keyOfRefusal({ keyId }: LimitedCaller, { details: { quota } }: GatewayError): string | null {
  return quota?.holder === "key" ? keyId : null;
}
