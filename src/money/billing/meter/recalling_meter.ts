import type { ShareRecall } from "../../../platform/store/share_recall.ts";
import type { LedgerMeter } from "./meter.ts";
import { isRefusal, retriedRefusals } from "./retried_refusals.ts";

/**
 * A meter of which other processes have the money and the limits too. No call is refused because of what another
 * process leases and does not use: that is recalled first.
 */
export function recallingMeter(meter: LedgerMeter, recall: ShareRecall): LedgerMeter {
  recall.listen(async ({ accountId, keyId }) => {
    await meter.recall(accountId);
    await meter.giveBack(accountId, keyId);
  });
  return {
    ...meter,
    ...retriedRefusals(meter, ({ caller, refusal, act }) => {
      if (!meter.isHeldElsewhere(caller, refusal)) return null;
      const call = () => {
        meter.forgetRefusals(caller, refusal);
        return act();
      };
      return recall.retried(caller, { refusal, isRefusal, call });
    }),
  };
}
