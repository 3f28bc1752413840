import { chain, type MaybePromise } from "../../../platform/lib/basics/maybe_promise.ts";
import { AccountLender } from "./account_lender.ts";
import { AccountMeters, type MeterOptions } from "./account_meters.ts";
import { Admitter } from "./admitter.ts";
import { type LedgerMeter, NO_RESERVATION, ruleOf } from "./meter.ts";

/**
 * A meter over the store. A call waits for the store only if its account had no call for five seconds. Balances are
 * cached, read in the background at most once a second, and updated by the meter's own charges. A call is never refused
 * because of a balance that is older than a second.
 *
 * Reservations never exceed the credit. So an account can be overdrawn by at most what its open calls cost above their
 * reservations, and by what other processes take while calls are open. Processes that lease money from one store take
 * nothing from each other.
 */
export function createMeter(options: MeterOptions): LedgerMeter {
  const meters = new AccountMeters(options);
  const admitter = new Admitter(meters, options);

  /** Checks that the store takes writes first. */
  function guarded<T>(act: () => MaybePromise<T>): MaybePromise<T> {
    return chain(options.writeGuard?.check(), act);
  }

  return {
    admit(caller, reservation) {
      const rule = ruleOf(reservation);
      return guarded(() => admitter.admitRequest(caller, rule));
    },
    admitFree: (caller) => admitter.admitUnreserved(caller, NO_RESERVATION),
    admitHeld: (caller, reserved) => admitter.admitUnreserved(caller, { ...reserved, amount: 0n }),
    async probe(caller, reservation) {
      if (reservation === null) return await admitter.probeFree(caller);
      const rule = ruleOf(reservation);
      return await guarded(() => admitter.probe(caller, rule));
    },
    reserve(caller, reservation) {
      const rule = ruleOf(reservation);
      return guarded(() => admitter.admitWork(caller, rule));
    },
    allowance: (caller) => guarded(() => admitter.allowance(caller)),
    openCalls: (accountId) => meters.known(accountId)?.calls.size ?? 0,
    reserved: (accountId) => meters.known(accountId)?.calls.reserved ?? 0n,
    ratesLeft: (caller) => caller.limits === null ? null : meters.of(caller.accountId).limiter.ratesLeft(caller),
    limitsLeft: (caller) => meters.useRead(caller, ({ limiter }) => limiter.limitsLeft(caller)),
    invalidate: (accountId) => meters.known(accountId)?.invalidate(),
    settle: (accountId) => meters.known(accountId)?.settle(),
    settleAll: () => meters.settleAll(),
    flush: () => meters.flush(),
    recall() {},
    isHeldElsewhere: (caller, refusal) => meters.known(caller.accountId)?.isHeldElsewhere(caller, refusal) ?? false,
    forgetRefusals: (caller, refusal) => meters.known(caller.accountId)?.forgetRefusals(caller, refusal),
    giveBack: async (accountId, keyId) => await meters.known(accountId)?.giveBack(keyId),
    lender: new AccountLender(meters),
  };
}
