import { isNameOf, type Outcome } from "./outcome.ts";
import type { Probe } from "./probes.ts";

/**
 * True when a parameter has no effect on the vendor's request and neither it nor its parent is reported or rejected.
 *
 * @param outcome The outcome of the request with the parameter.
 * @param baseline The outcome of the same request without it.
 */
export function isSilent({ steps }: Probe, outcome: Outcome, baseline: Outcome): boolean {
  // A parent that is rejected as a whole covers its members.
  if (baseline.kind === "refused" && isNameOf(baseline.field, steps)) return false;
  if (outcome.kind === "refused") return !isNameOf(outcome.field, steps);
  if (outcome.dropped.some((name) => isNameOf(name, steps))) return false;
  return baseline.kind === "sent" && outcome.body === baseline.body;
}
