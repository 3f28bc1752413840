import { highestTariff } from "../../../money/billing/prices/tariff.ts";
import { type CallOption, type CallOptions, joinOptions, makeOptions } from "../../calls/options.ts";
import { routeOf } from "../../calls/paid_call.ts";
import type { Model } from "../../../vendors/catalog/model.ts";
import { BATCH_TIER } from "../../../vendors/catalog/prices/price_conditions.ts";
import { permittedCatalog } from "../../../vendors/catalog/permitted_catalog.ts";
import { chain, type MaybePromise } from "../../../platform/lib/basics/maybe_promise.ts";
import { type Candidate, openCircuitsLast, recordWarm, usableCandidates } from "../../../vendors/routing/candidates.ts";
import { textEndpointsOf } from "../../../vendors/upstreams/contract/provider.ts";
import type { TextParts, TextRequest } from "../plan/attempt.ts";
import { possibleAnswers } from "../relay/answering_model.ts";
import { candidatesOfCache } from "../plan/cached_request.ts";
import { candidatesPermittedFor } from "../plan/pass_through_endpoint.ts";
import { tariffUpTo, type TextReach } from "../plan/price_reach.ts";
import { warmProvider } from "../prompt_caching/prompt_caching.ts";
import { makerFirst } from "../plan/reasoning_maker.ts";
import { factsAt } from "../plan/served_endpoints.ts";
import { isTierSupported, reachableTiers } from "../plan/service_tier.ts";
import { type MeasuredText, measureOf } from "../plan/text_measure.ts";
import { namedTextModel } from "./text_model.ts";

/** A validated model that may serve a request, with its candidates and the maximum that the request may consume. */
export interface TextOption extends MeasuredText, CallOption {
  readonly model: Model;
  /** The other models that may answer, whose price is reserved too. */
  readonly others: readonly Model[];
  /** The request with its output limits clamped to the model's. */
  readonly request: TextRequest;
}

/**
 * Returns the models that may serve a request: the named one, then its fallbacks. A fallback that cannot serve the
 * request is left out: a pin to a provider without it, state at another provider, or a hosted tool or tier without a
 * price. A request with cached content has no fallbacks, because the cache belongs to one model. The result is
 * immediate for a request that names no state of a vendor.
 *
 * @throws {GatewayError} The reason why the named model cannot serve the request, `permission_denied` if the key may
 * not use it; misconfigured providers only if no
 * fallback is left.
 */
export function textOptionsOf(
  request: TextRequest,
  parts: TextParts,
): MaybePromise<CallOptions<TextOption>> {
  const catalog = permittedCatalog(parts.catalog.at(request.receivedAt), request.limits);
  const { model, fallbacks } = namedTextModel(catalog, request.model, request.format);
  const models = request.cache || parts.batch !== undefined ? [model] : [model, ...fallbacks];
  const options = makeOptions(models, (each) => optionOf(request, each, parts));
  const context = { breaker: parts.breaker, accountId: request.accountId };
  return chain(options, (made) => joinOptions(made, context));
}

function optionOf(original: TextRequest, model: Model, parts: TextParts): MaybePromise<TextOption> {
  const request = withClampedLimit(original, model);
  const { batch } = parts;
  if (batch?.fixed) return measuredOption({ request, model, candidates: [batch.fixed], tiers: [BATCH_TIER] }, parts);
  const routed = routeTo(request, model, parts);
  const served = () => routed.map((to) => ({ provider: parts.providers.get(to.provider)!, model, name: to.model }));
  const tiers = reachableTiers(request, model, (tier) => isTierSupported(tier, served(), request));
  const optionFor = (candidates: readonly Candidate[]) =>
    measuredOption({ request, model, candidates, tiers: batch === undefined ? tiers : [BATCH_TIER] }, parts);
  const permitted = candidatesPermittedFor(request, model, routed, parts);
  // A maker whose circuit is open is not waited for: its reasoning is then left out and named.
  const ordered = (each: readonly Candidate[]) =>
    openCircuitsLast(makerFirst(warmFirst(each, { request, model }, parts), request), {
      breaker: parts.breaker,
      accountId: request.accountId,
    });
  return chain(permitted, (each) => {
    const candidates = ordered(each);
    // A tier that the request names is none of batches.
    const isPlain = tiers.every((tier) => tier === null);
    return optionFor(batch === undefined ? candidates : [batch.pick(model, isPlain ? candidates : [])]);
  });
}

/** Returns the option of a request at one model, with the most that it can consume at these providers and tiers. */
function measuredOption(
  { request, model, candidates, tiers }: TextReach & Pick<TextOption, "request">,
  parts: TextParts,
): TextOption {
  const others = possibleAnswers(model, candidates, parts);
  const tariffOf = (each: Model, tokens: number) =>
    tariffUpTo(tokens, { request, model: each, candidates, tiers }, parts);
  const { measure, rates } = measureOf(request, model, {
    takesAnyFile: takesAnyFile(candidates, parts),
    // A line of a batch is one request.
    hopTokens: parts.batch ? null : hopTokensOf(model, { stream: request.stream, candidates }, parts),
    tariffUpTo: (tokens) =>
      others.reduce((all, other) => highestTariff(all, tariffOf(other, tokens)), tariffOf(model, tokens)),
  });
  return { model, others, request, candidates, measure, rates };
}

/** The candidates with the one first whose vendor may still have the conversation in its cache, which is recorded. */
function warmFirst(
  candidates: readonly Candidate[],
  { request, model }: Pick<TextOption, "request" | "model">,
  parts: TextParts,
): readonly Candidate[] {
  const warm = warmProvider(request, model, candidates, parts);
  const first = warm === null ? undefined : candidates.find(({ provider }) => provider === warm);
  if (first === undefined) return candidates;
  recordWarm(request.record, model.id, first);
  return [first, ...candidates.filter((each) => each !== first)];
}

/** Returns the request with its output limits clamped to the model's limit, if the catalog has one. */
function withClampedLimit(request: TextRequest, model: Model): TextRequest {
  const maxTokens = model.topProvider.maxCompletionTokens;
  const clampedLimit = maxTokens === 0 ? null : request.format.clampLimit(request.body, maxTokens);
  if (clampedLimit === null) return request;
  const { set } = clampedLimit;
  const wholeBody = () => ({ ...request.wholeBody(), ...set });
  return { ...request, body: { ...request.body, ...set }, wholeBody, clampedLimit };
}

/** Returns the providers to try for a request at one model. Throws as `routeOf`. */
export function routeTo(request: TextRequest, model: Model, parts: TextParts): readonly Candidate[] {
  const { pin, candidates } = routeOf(model, request, parts);
  if (!request.cache) return candidates;
  request.record.cacheId = request.cache.id;
  const context = { breaker: parts.breaker, accountId: request.accountId };
  return usableCandidates(candidatesOfCache(request.cache, pin, candidates, model.serves), context);
}

/** The smallest number of output tokens of one request at the providers whose models go on in further requests. */
function hopTokensOf(
  model: Model,
  { stream, candidates }: Pick<TextRequest, "stream"> & { readonly candidates: readonly Candidate[] },
  { providers }: TextParts,
): number | null {
  let least: number | null = null;
  for (const { provider: id, model: name } of candidates) {
    const provider = providers.get(id)!;
    const { hopTokens } = factsAt({ provider, model, name });
    if (hopTokens === null || textEndpointsOf(provider, name).every(({ format }) => !format.continuation)) continue;
    least = Math.min(least ?? Infinity, stream ? hopTokens.streamed : hopTokens.whole);
  }
  return least;
}

/**
 * Vendors of the content format accept any file by its address. Vendors of other formats accept only pictures as
 * pictures.
 */
function takesAnyFile(candidates: readonly Candidate[], { providers }: TextParts): boolean {
  return candidates.some(({ provider, model }) =>
    textEndpointsOf(providers.get(provider)!, model).some(({ format }) => format.takesAnyFile)
  );
}
