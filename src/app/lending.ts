import { lentMeter } from "../billing/lent_meter.ts";
import type { LedgerMeter } from "../billing/meter.ts";
import type { Clock } from "../lib/clock.ts";
import { Lessors } from "../thread_state/lessors.ts";

/** A meter of which isolates lease parts. */
export function lend(meter: LedgerMeter, clock: Clock): { readonly meter: LedgerMeter; readonly lessors: Lessors } {
  const lessors = new Lessors(clock);
  return { meter: lentMeter(meter, lessors), lessors };
}
