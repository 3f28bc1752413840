import { counted } from "../../platform/lib/text/counted.ts";
import type { ProviderCheck, ProviderFault } from "../../vendors/upstreams/opening/provider_check.ts";
import { type Finding, ok, problem, warning } from "./finding.ts";

/** Failures that pass without a change of the configuration. */
const PASSING: ReadonlySet<ProviderFault["kind"]> = new Set(["rate_limited", "unavailable"]);

/**
 * Describes the test of a provider with one credential.
 *
 * @param id The name of the provider, with the credential if it has several.
 */
export function providerFinding(id: string, { fault, models }: ProviderCheck): Finding {
  const check = `provider ${id}`;
  if (fault === null) {
    const listed = models === null ? "" : `, and lists ${counted(models.length, "model")}`;
    return ok(check, `the vendor accepts the credential${listed}`);
  }
  if (fault.kind === "untestable") {
    return ok(check, "this kind has no call without cost, so its credential is not checked");
  }
  const finding = PASSING.has(fault.kind) ? warning : problem;
  return finding(check, fault.text, fault.advice);
}
