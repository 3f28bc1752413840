import { isNameOf, type Outcome } from "./outcome.ts";
import type { Probe } from "./probes.ts";

/**
 * True when a parameter changes nothing of what the vendor gets, and neither it nor what holds it is named or refused.
 *
 * @param outcome Of the request with the parameter.
 * @param baseline Of the same request without it.
 */
export function isSilent({ steps }: Probe, outcome: Outcome, baseline: Outcome): boolean {
  // What is refused as a whole is refused with all that it holds.
  if (baseline.kind === "refused" && isNameOf(baseline.field, steps)) return false;
  if (outcome.kind === "refused") return !isNameOf(outcome.field, steps);
  if (outcome.dropped.some((name) => isNameOf(name, steps))) return false;
  return baseline.kind === "sent" && outcome.body === baseline.body;
}
