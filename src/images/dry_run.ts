import { highestReservation } from "../billing/highest_reservation.ts";
import { fixedReservation } from "../billing/meter.ts";
import { elementAt } from "../lib/element_at.ts";
import { GatewayError } from "../lib/gateway_error.ts";
import type { Money } from "../lib/money.ts";
import { byWeight } from "../routing/candidates.ts";
import type { ImageParts } from "./image_call.ts";
import { type ImageOption, imageOptionsOf } from "./image_option.ts";
import type { ImageCaller, ImageRequest } from "./image_request.ts";

/**
 * What a request for pictures would come to, at the model that it names or at the first of its fallbacks that can serve
 * it.
 */
export interface ImageDryRun {
  /** At that model. */
  readonly request: ImageRequest;
  /** Who may serve it there, the likeliest first; at least one. */
  readonly providers: readonly string[];
  /** What it costs there at most. */
  readonly most: Money;
  /** Whether the balance would hold; if not, references were not looked at. */
  readonly balanceCovers: boolean;
}

/**
 * Tries a request for pictures: every check of a real one, references included, without a charge or a word to a vendor.
 *
 * @param requests As for {@linkcode ImageCalls.run}.
 * @throws {GatewayError} What a real one would throw before a vendor is asked, `insufficient_credits` apart.
 */
export async function dryRunImages(
  requests: readonly ImageRequest[],
  asker: ImageCaller,
  parts: ImageParts,
): Promise<ImageDryRun> {
  const { accountId } = asker;
  const options = await imageOptionsOf(requests, asker, parts);
  const { request, candidates, amount } = elementAt(options, 0);
  const balanceCovers = await isCovered(options, accountId, parts);
  if (balanceCovers && request.references.length > 0) {
    const reserve = (bytes: number) => asker.memory.reserve(bytes);
    await parts.readReferences(request.references, { accountId, signal: asker.callerSignal(), reserve });
  }
  const likely = byWeight(candidates, { breaker: parts.breaker, accountId });
  return { request, providers: likely.map(({ provider }) => provider), most: amount, balanceCovers };
}

async function isCovered(options: readonly ImageOption[], accountId: string, { meter }: ImageParts): Promise<boolean> {
  try {
    const admitted = meter.admit(accountId, highestReservation(options.map(({ amount }) => fixedReservation(amount))));
    (await admitted).release();
    return true;
  } catch (error) {
    if (error instanceof GatewayError && error.code === "insufficient_credits") return false;
    throw error;
  }
}
