import { lentMeter } from "../../../money/billing/meter/lent_meter.ts";
import type { LedgerMeter } from "../../../money/billing/meter/meter.ts";
import type { Clock } from "../../../platform/lib/basics/clock.ts";
import { Lessors } from "../../../threads/leases/lessors.ts";

/** A meter of which isolates lease parts. */
export function lend(meter: LedgerMeter, clock: Clock): { readonly meter: LedgerMeter; readonly lessors: Lessors } {
  const lessors = new Lessors(clock);
  return { meter: lentMeter(meter, lessors), lessors };
}
