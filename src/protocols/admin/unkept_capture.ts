import { invalidField } from "../../lib/gateway_error.ts";
import type { CaptureSetting } from "../../limits/access_limits.ts";

/**
 * Refuses to switch on the capture of bodies where the gateway keeps none, as the setting would have no effect.
 *
 * @param capture As the operator gave it. Undefined, null and `none` capture nothing.
 * @param noBodiesReason Why no bodies are kept, as a clause for people; null if they are.
 * @throws {GatewayError} `invalid_request`, with the reason.
 */
export function refuseUnkeptCapture(capture: CaptureSetting | null | undefined, noBodiesReason: string | null): void {
  if (noBodiesReason === null || capture === undefined || capture === null || capture === "none") return;
  throw invalidField("capture", `expected none, as no bodies are kept: ${noBodiesReason}`);
}
