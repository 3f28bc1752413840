import type { Credential } from "../../money/billing/keys/key_ring.ts";
import { type Admission, InsufficientCredits, type Meter } from "../../money/billing/meter/meter.ts";
import { GatewayError } from "../../platform/lib/basics/gateway_error.ts";
import { type Money, writeMoney } from "../../platform/lib/basics/money.ts";

/**
 * Reserves the highest cost of a batch, and takes its limits.
 *
 * @throws {GatewayError} `insufficient_credits`, and what the meter throws.
 */
export async function admitBatch(
  meter: Pick<Meter, "admit" | "admitFree">,
  credential: Credential,
  estimate: Money,
): Promise<Admission> {
  try {
    return estimate === 0n ? await meter.admitFree(credential) : await meter.admit(credential, estimate);
  } catch (error) {
    if (error instanceof InsufficientCredits) throw insufficientForBatch(estimate);
    throw error;
  }
}

/** The error of a batch whose highest cost the balance does not cover. */
export function insufficientForBatch(estimate: Money): GatewayError {
  return new GatewayError(
    "insufficient_credits",
    `Cannot accept the batch: the balance does not cover its highest cost, ${writeMoney(estimate)} USD`,
  );
}
