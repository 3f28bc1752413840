import { highestReservation } from "../../money/billing/meter/highest_reservation.ts";
import { fixedReservation } from "../../money/billing/meter/meter.ts";
import { isAdmitted, type ProbedAdmission, probedAdmission } from "../calls/dry_run.ts";
import { elementAt } from "../../platform/lib/collections/element_at.ts";
import { providerNameOf } from "../../platform/names/provider_name.ts";
import type { Money } from "../../platform/lib/basics/money.ts";
import { droppedOptionsOf } from "../../vendors/upstreams/shared/images/dropped_image_options.ts";
import { byWeight, type Candidate } from "../../vendors/routing/candidates.ts";
import type { ImageParts } from "./image_call.ts";
import { orderOf } from "./image_call.ts";
import { imageOptionsOf, imageUpstreamOf } from "./image_option.ts";
import type { ImageCaller, ImageRequest } from "./request/image_request.ts";
import { readReferencesOf } from "./read_references.ts";

/** The result of a dry run: at the named model, or at the first fallback that can serve the request. */
export interface ImageDryRun {
  /** For that model. */
  readonly request: ImageRequest;
  /** The providers that may serve it, most likely first; at least one. */
  readonly providers: readonly string[];
  /** The maximum cost there. */
  readonly maxCost: Money;
  /** Whether it would be admitted now. If not, references were not checked. */
  readonly admission: ProbedAdmission;
}

/**
 * Runs an image request without execution: all checks of a real request, including references, but no charge and no
 * request to a vendor.
 *
 * @param requests As for {@linkcode ImageCalls.run}.
 * @throws {GatewayError} What a real request would throw before a vendor is called, except for a refusal by the
 * balance or a limit.
 */
export async function dryRunImages(
  requests: readonly ImageRequest[],
  asker: ImageCaller,
  parts: ImageParts,
): Promise<ImageDryRun> {
  const { accountId, keyId } = asker;
  const options = await imageOptionsOf(requests, asker, parts);
  const { request, candidates, amount } = elementAt(options, 0);
  const reservation = highestReservation(options.map(({ amount }) => fixedReservation(amount)));
  const admission = await probedAdmission(() => parts.meter.probe(asker, reservation));
  if (isAdmitted(admission) && request.references.length > 0) {
    const reserve = (bytes: number) => asker.memory.reserve(bytes);
    await readReferencesOf(request, parts.readReferences, { accountId, keyId, signal: asker.callerSignal(), reserve });
  }
  const likely = byWeight(candidates, { breaker: parts.breaker, accountId });
  const providers = [...new Set(likely.map(({ provider }) => providerNameOf(provider)))];
  return {
    request: { ...request, droppedFields: droppedAt(elementAt(likely, 0), request, parts) },
    providers,
    maxCost: amount,
    admission,
  };
}

/** The dropped fields at the provider that is tried first. */
function droppedAt(candidate: Candidate, request: ImageRequest, parts: ImageParts): readonly string[] {
  const upstream = imageUpstreamOf(candidate, parts);
  const dropped = upstream === null ? [] : droppedOptionsOf(upstream, orderOf(request, candidate, request.images));
  return [...new Set([...request.droppedFields, ...dropped])];
}
