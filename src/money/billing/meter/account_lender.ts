import type { Money } from "../../../platform/lib/basics/money.ts";
import type { LimitedCaller } from "../../limits/limited_caller.ts";
import type { ChargeGroup } from "../ledger/charge_group.ts";
import type { AccountMeter } from "./account_meter.ts";
import { type AccountMeters, MAX_BALANCE_AGE_MS, REFRESH_INTERVAL_MS } from "./account_meters.ts";
import {
  CallLease,
  leasedPartOf,
  type LeaseNeed,
  type LeasePart,
  type LeaseUnits,
  type LeaseUse,
  type Lender,
} from "./call_lease.ts";

/** Lends parts of accounts to threads. What is lent is within the lease of this process, if others have it too. */
export class AccountLender implements Lender {
  constructor(private readonly meters: AccountMeters) {}

  /** See {@linkcode Lender.lend}. */
  lend(caller: LimitedCaller, need: LeaseNeed): { readonly lease: CallLease; readonly units: LeaseUnits } | null {
    const meter = this.meters.of(caller.accountId);
    const units = lendableOf(meter, caller, { need });
    if (units === null) return null;
    const lease = new CallLease(caller, meter.limiter.lent.bucketsOf(caller));
    meter.lend(lease, units);
    return { lease, units };
  }

  /** See {@linkcode Lender.lendMore}. */
  lendMore(lease: CallLease, need: LeaseNeed, parts: readonly LeasePart[]): LeaseUnits | null {
    const meter = this.meters.of(lease.caller.accountId);
    // The next one finds it. A read can begin to replace the lease of this process, which covers nothing meanwhile.
    if (meter.balanceAgeMs >= REFRESH_INTERVAL_MS) meter.readBalance().catch(() => {});
    const units = lendableOf(meter, lease.caller, { need, parts });
    if (units !== null) meter.lend(lease, units);
    return units;
  }

  /** See {@linkcode Lender.spendable}. */
  spendable(caller: LimitedCaller): Money {
    return this.meters.of(caller.accountId).lendable(caller)?.money ?? 0n;
  }

  /** See {@linkcode Lender.takeBack}. */
  takeBack(lease: CallLease, use: LeaseUse): void {
    this.meters.of(lease.caller.accountId).calls.takeBack(lease, use);
  }

  /** See {@linkcode Lender.endLease}. */
  endLease(lease: CallLease): void {
    this.meters.of(lease.caller.accountId).endLease(lease);
  }

  /** See {@linkcode Lender.chargeGroup}. */
  chargeGroup(group: ChargeGroup): Promise<void> {
    return this.meters.of(group.account).chargeGroup(group);
  }
}

/** Null near a limit, or if what is free is not known now. */
function lendableOf(
  meter: AccountMeter,
  caller: LimitedCaller,
  { need, parts }: { readonly need: LeaseNeed; readonly parts?: readonly LeasePart[] },
): LeaseUnits | null {
  const free = meter.balanceAgeMs < MAX_BALANCE_AGE_MS ? meter.lendable(caller) : null;
  const units = free && leasedPartOf(free, need, parts);
  return units !== null && meter.covers(units.money) ? units : null;
}
