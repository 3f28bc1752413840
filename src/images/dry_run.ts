import { highestReservation } from "../billing/highest_reservation.ts";
import { fixedReservation } from "../billing/meter.ts";
import { elementAt } from "../lib/element_at.ts";
import { GatewayError } from "../lib/gateway_error.ts";
import type { LimitedCaller } from "../limits/limited_caller.ts";
import { providerNameOf } from "../lib/provider_name.ts";
import type { Money } from "../lib/money.ts";
import { byWeight } from "../routing/candidates.ts";
import type { ImageParts } from "./image_call.ts";
import { type ImageOption, imageOptionsOf } from "./image_option.ts";
import type { ImageCaller, ImageRequest } from "./image_request.ts";

/** The result of a dry run: at the named model, or at the first fallback that can serve the request. */
export interface ImageDryRun {
  /** For that model. */
  readonly request: ImageRequest;
  /** The providers that may serve it, most likely first; at least one. */
  readonly providers: readonly string[];
  /** The maximum cost there. */
  readonly maxCost: Money;
  /** Whether the balance and the budgets are sufficient. If not, references were not checked. */
  readonly balanceCovers: boolean;
}

/**
 * Runs an image request without execution: all checks of a real request, including references, but no charge and no
 * request to a vendor.
 *
 * @param requests As for {@linkcode ImageCalls.run}.
 * @throws {GatewayError} What a real request would throw before a vendor is called, except `insufficient_credits`.
 */
export async function dryRunImages(
  requests: readonly ImageRequest[],
  asker: ImageCaller,
  parts: ImageParts,
): Promise<ImageDryRun> {
  const { accountId } = asker;
  const options = await imageOptionsOf(requests, asker, parts);
  const { request, candidates, amount } = elementAt(options, 0);
  const balanceCovers = await isCovered(options, asker, parts);
  if (balanceCovers && request.references.length > 0) {
    const reserve = (bytes: number) => asker.memory.reserve(bytes);
    await parts.readReferences(request.references, { accountId, signal: asker.callerSignal(), reserve });
  }
  const likely = byWeight(candidates, { breaker: parts.breaker, accountId });
  const providers = [...new Set(likely.map(({ provider }) => providerNameOf(provider)))];
  return { request, providers, maxCost: amount, balanceCovers };
}

async function isCovered(
  options: readonly ImageOption[],
  caller: LimitedCaller,
  { meter }: ImageParts,
): Promise<boolean> {
  try {
    const admitted = meter.reserve(caller, highestReservation(options.map(({ amount }) => fixedReservation(amount))));
    (await admitted).release();
    return true;
  } catch (error) {
    if (error instanceof GatewayError && error.code === "insufficient_credits") return false;
    throw error;
  }
}
