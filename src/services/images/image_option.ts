import { costOfAll } from "../../money/billing/prices/tariff.ts";
import { type CallOption, makeOptions } from "../calls/options.ts";
import { routeOf, type RouteParts } from "../calls/paid_call.ts";
import { GatewayError } from "../../platform/lib/basics/gateway_error.ts";
import type { Money } from "../../platform/lib/basics/money.ts";
import type { Candidate } from "../../vendors/routing/candidates.ts";
import type { ImageConsumption, ImageUpstream } from "../../vendors/upstreams/contract/image_upstream.ts";
import { maxPerCallFor } from "../../vendors/upstreams/shared/images/image_limits.ts";
import { type ImageMeasure, imageQuantitiesOf, maxConsumption } from "./consumption.ts";
import { framesOf } from "./request/file_types.ts";
import type { ImageCaller, ImageRequest } from "./request/image_request.ts";
import { editingUnsupported } from "./request/series.ts";
import { maxSvgUsage, svgPart, tokensOf } from "./svg_usage.ts";

/** A request for one model that may serve it, and its maximum cost. */
export interface ImageOption extends CallOption {
  readonly request: ImageRequest;
  readonly measure: ImageMeasure;
  readonly amount: Money;
  /** The maximum number of tokens. */
  readonly tokens: number;
}

/** The part of the caller that decides on routing. */
type Asking = Pick<ImageCaller, "accountId" | "headerPin"> & Partial<Pick<ImageCaller, "record">>;

/**
 * The options for a request: its model, then the fallbacks that are tried if all providers of that model fail.
 *
 * @throws {GatewayError} What prevents the first model from serving it.
 */
export async function imageOptionsOf(
  requests: readonly ImageRequest[],
  asker: Asking,
  parts: RouteParts,
): Promise<readonly ImageOption[]> {
  return await makeOptions(requests, (request) => {
    const candidates = route(request, asker, parts);
    const measure = measureOf(request);
    const most = mostConsumption(request, measure, candidates, parts);
    const { count: made, model, svg } = request;
    const own = { quantities: imageQuantitiesOf(most, { made, given: measure.given }), tariff: model.tariff };
    const drawn = svg === null ? null : maxSvgUsage(svg.model, measure);
    const amount = costOfAll(svg === null || drawn === null ? [own] : [own, svgPart(drawn, svg.model)]);
    const tokens = most.textTokens + most.imageTokens + most.outputTokens + (drawn === null ? 0 : tokensOf(drawn));
    return { request, candidates, measure, amount, tokens };
  });
}

/** The image adapter of a candidate's provider; null if it has none. */
export function imageUpstreamOf({ provider }: Candidate, { providers }: Pick<RouteParts, "providers">) {
  return providers.get(provider)?.capabilities.images ?? null;
}

/** The providers to try. */
function route({ model, kind, bodyPin }: ImageRequest, { headerPin, accountId, record }: Asking, parts: RouteParts) {
  const isAble = (candidate: Candidate) => {
    const upstream: ImageUpstream | null = imageUpstreamOf(candidate, parts);
    return upstream !== null && (kind === "generate" || upstream.edit !== null);
  };
  const { candidates } = routeOf(model, { accountId, headerPin, bodyPin, isAble, ...record && { record } }, parts);
  if (candidates.length > 0) return candidates;
  if (kind === "edit") throw editingUnsupported(model.id);
  throw new GatewayError("route_error", `Cannot route: no provider of "${model.id}" makes images`, { isFinal: true });
}

/** The maximum consumption at any of the candidates. */
function mostConsumption(
  request: ImageRequest,
  measure: ImageMeasure,
  candidates: readonly Candidate[],
  parts: RouteParts,
): ImageConsumption {
  const { count: made, mask, maskReference, partialImages } = request;
  const calls = Math.max(
    ...candidates.map((each) => Math.ceil(made / maxPerCallFor(imageUpstreamOf(each, parts)!, request))),
  );
  return maxConsumption({ ...measure, hasMask: mask !== null || maskReference !== null, partialImages, calls });
}

function measureOf(request: ImageRequest): ImageMeasure {
  const { prompt, quality, size, count, images, references } = request;
  return { prompt, quality, size, count, given: images.length + references.length, frames: framesOf(request) };
}
