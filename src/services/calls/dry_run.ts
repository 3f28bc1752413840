import type { Meter, Reservation } from "../../money/billing/meter/meter.ts";
import { GatewayError } from "../../platform/lib/basics/gateway_error.ts";
import type { JsonObject } from "../../platform/lib/json/json_object.ts";

/** Whether a request would be admitted now. */
export interface ProbedAdmission {
  /** What the request would reserve; null if it would be refused. */
  readonly reserved: Reservation | null;
  /** Why it would be refused: `insufficient_credits` or `rate_limited`; null if it would be admitted. */
  readonly refusal: GatewayError | null;
}

/**
 * Returns whether a request would be admitted, by its balance, its budgets and its limits. Nothing is taken.
 *
 * @param probe Checks the request as {@linkcode Meter.probe} does.
 * @throws {GatewayError} What is no refusal, such as `storage_unavailable`; as a rejection.
 */
export async function probedAdmission(probe: () => ReturnType<Meter["probe"]>): Promise<ProbedAdmission> {
  try {
    return { reserved: await probe(), refusal: null };
  } catch (error) {
    const isRefusal = error instanceof GatewayError && REFUSALS.has(error.code);
    if (!isRefusal) throw error;
    return { reserved: null, refusal: error };
  }
}

const REFUSALS: ReadonlySet<string> = new Set(["insufficient_credits", "rate_limited"]);

/** Whether the request would be admitted. Media are downloaded only then: a real request would be refused before. */
export function isAdmitted({ refusal }: ProbedAdmission): boolean {
  return refusal === null;
}

/** Whether the balance and the budgets are sufficient. */
export function isBalanceSufficient({ refusal }: ProbedAdmission): boolean {
  return refusal?.code !== "insufficient_credits";
}

/** Writes an admission for the response to a dry run. Source: docs/api/dry-runs.md. */
export function writeAdmission(admission: ProbedAdmission): JsonObject {
  const { refusal } = admission;
  return {
    balance_covers: isBalanceSufficient(admission),
    admitted: isAdmitted(admission),
    refused_by: refusal && writeRefusal(refusal),
  };
}

function writeRefusal({ code, message, details: { quota, retryAfterSeconds } }: GatewayError): JsonObject {
  return {
    code,
    message,
    holder: quota?.holder ?? null,
    limit: quota?.limit ?? (code === "insufficient_credits" ? "balance" : null),
    value: quota?.value ?? null,
    retry_after: retryAfterSeconds ?? null,
  };
}
