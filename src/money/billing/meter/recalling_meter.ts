import { type MaybePromise, recover } from "../../../platform/lib/basics/maybe_promise.ts";
import type { LimitedCaller } from "../../limits/limited_caller.ts";
import type { ShareRecall } from "../../../platform/store/share_recall.ts";
import { isRefusal } from "./lent_meter.ts";
import type { LedgerMeter } from "./meter.ts";

/**
 * A meter of which other processes have the money and the limits too. No call is refused because of what another
 * process leases and does not use: that is recalled first.
 */
export function recallingMeter(meter: LedgerMeter, recall: ShareRecall): LedgerMeter {
  recall.listen(async ({ accountId, keyId }) => {
    await meter.recall(accountId);
    await meter.giveBack(accountId, keyId);
  });

  function again<T>(caller: LimitedCaller, act: () => MaybePromise<T>): MaybePromise<T> {
    const afterRefusal = (refusal: unknown): Promise<T> => {
      if (!isRefusal(refusal) || !meter.isHeldElsewhere(caller, refusal)) throw refusal;
      return recall.retried(caller, {
        refusal,
        isRefusal,
        call: () => {
          meter.forgetRefusals(caller, refusal);
          return act();
        },
      });
    };
    let done: MaybePromise<T>;
    try {
      done = act();
    } catch (refusal) {
      return afterRefusal(refusal);
    }
    return recover(done, afterRefusal);
  }

  return {
    ...meter,
    admit: (caller, reservation) => again(caller, () => meter.admit(caller, reservation)),
    admitFree: (caller) => again(caller, () => meter.admitFree(caller)),
    admitHeld: (caller, reserved) => again(caller, () => meter.admitHeld(caller, reserved)),
    probe: async (caller, reservation) => await again(caller, () => meter.probe(caller, reservation)),
    reserve: (caller, reservation) => again(caller, () => meter.reserve(caller, reservation)),
  };
}
