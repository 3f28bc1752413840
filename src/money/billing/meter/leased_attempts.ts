import { GatewayError } from "../../../platform/lib/basics/gateway_error.ts";
import type { MaybePromise } from "../../../platform/lib/basics/maybe_promise.ts";
import { storageUnavailable } from "../../../platform/store/write_health.ts";
import type { LimitedCaller } from "../../limits/limited_caller.ts";
import type { AccountMeter } from "./account_meter.ts";

/** A call that the leases of this process do not cover. */
export interface UncoveredCall<T> {
  readonly caller: LimitedCaller;
  /** Leases what the call needs. Rejects as the store does, or with a refusal. */
  readonly lease: () => Promise<void>;
  /** Returns null if the lease does not cover the call. */
  readonly attempt: () => MaybePromise<T | null>;
}

/** A call waits for so many demands of others, and then tries with what is leased. */
const MAX_LEASE_WAITS = 64;
/** A call that is overtaken by others so often is refused. */
const MAX_LEASE_ATTEMPTS = 16;

/**
 * Leases what a call needs that was not admitted, and tries again. Calls at one time share the first demands. If these
 * do not cover all of them, each has its own, in turn, so that what is free goes to as many as it covers.
 *
 * @throws {GatewayError} What the lease or the attempt throws; `storage_unavailable` if the store fails, or if others
 * overtake the call too often.
 */
export async function afterLease<T>(meter: AccountMeter, call: UncoveredCall<T>): Promise<T> {
  meter.userCount++;
  try {
    return await tryOnce(meter, call) ?? await meter.inTurn(async () => {
      for (let attempt = 0; attempt < MAX_LEASE_ATTEMPTS; attempt++) {
        const result = await tryOnce(meter, call);
        if (result !== null) return result;
      }
      throw storageUnavailable();
    });
  } finally {
    meter.userCount--;
  }
}

async function tryOnce<T>(meter: AccountMeter, { caller, lease, attempt }: UncoveredCall<T>): Promise<T | null> {
  await lease().catch((failure) => {
    throw failure instanceof GatewayError ? failure : storageUnavailable(failure);
  });
  // Another call's demand replaces the lease, which covers nothing meanwhile.
  for (let wait = 0; wait < MAX_LEASE_WAITS; wait++) {
    const pending = meter.pendingLease(caller);
    if (pending === null) break;
    await pending.catch(() => {});
  }
  return await attempt();
}
