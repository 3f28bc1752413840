import { GatewayError } from "../../platform/lib/basics/gateway_error.ts";
import { EgressError } from "../../platform/net/egress_error.ts";
import { checkTarget } from "../../platform/net/target.ts";
import type { BatchParts } from "./settling/batch_parts.ts";

/** @throws {GatewayError} `invalid_request` for an address that no webhook may be sent to. */
export async function refuseCallback(
  url: string | null,
  { egress, isTestReceiver }: Pick<BatchParts, "egress" | "isTestReceiver">,
): Promise<void> {
  if (url === null || isTestReceiver(url)) return;
  try {
    await checkTarget(url, ["https:"], egress);
  } catch (error) {
    if (!(error instanceof EgressError)) throw error;
    throw new GatewayError("invalid_request", `Cannot use "callback_url": ${error.message}`, {
      field: "callback_url",
    });
  }
}
