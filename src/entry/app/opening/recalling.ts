import { recallingMeter } from "../../../money/billing/meter/recalling_meter.ts";
import type { LedgerMeter } from "../../../money/billing/meter/meter.ts";
import type { Clock } from "../../../platform/lib/basics/clock.ts";
import type { StoreEngine } from "../../../platform/store/engine.ts";
import { ShareRecall } from "../../../platform/store/share_recall.ts";

/** A meter that recalls what other gateways lease and do not use; the same meter for an engine of one process. */
export function recalled(meter: LedgerMeter, store: StoreEngine, clock: Clock): LedgerMeter {
  const { gateways } = store;
  return gateways === undefined ? meter : recallingMeter(meter, new ShareRecall({ store, clock, gateways }));
}
