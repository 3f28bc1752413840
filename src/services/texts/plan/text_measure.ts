import type { CacheReference } from "../../caches/reference.ts";
import type { Tariff } from "../../../money/billing/prices/tariff.ts";
import { DEFAULT_CONTEXT_TOKENS, promptBoundOf, promptRateOf } from "../../calls/prompt_bound.ts";
import type { Model } from "../../../vendors/catalog/model.ts";
import type { CallerFormat } from "../../../conversation/contract/caller_format.ts";
import type { JsonObject } from "../../../platform/lib/json/json_object.ts";
import { isObject } from "../../../conversation/neutral/wire_value.ts";
import { higherRate, type Rate } from "../../../platform/lib/basics/money.ts";
import type { TextMaximum, TextRates } from "./text_reservation.ts";

/** The fields of a request that determine what it may consume. */
export interface MeasuredRequest {
  readonly format: CallerFormat;
  readonly body: JsonObject;
  /** The body as received. */
  readonly bytes: Uint8Array<ArrayBuffer>;
  readonly cache?: Pick<CacheReference, "tokens" | "isImplicit"> | null;
}

/** The number of searches that are assumed for a search tool without `max_uses`. */
const DEFAULT_SEARCHES = 5;
/** The minimum output limit that a vendor is sent: one of the formats accepts no smaller one. */
const MIN_OUTPUT_TOKENS = 16;
/**
 * The number of tokens beyond its own limit that a caller may receive. Applies to a request for reasoning in another
 * format than the vendor's.
 */
const MIN_REASONING_TOKENS = 1_024;

/** What decides on the measure of a request, besides itself and its model. */
export interface MeasureOptions {
  /** Whether a vendor of the model accepts any file as a picture's address. */
  readonly takesAnyFile: boolean;
  /** Returns the highest prices that a prompt of up to so many tokens can reach. Default: those of the model. */
  readonly tariffUpTo?: (promptTokens: number) => Tariff;
  /** The most output tokens of one request, for a model that goes on in further ones; null for others, the default. */
  readonly hopTokens?: number | null;
}

/** The maximum that a request may consume, and the maximum rate of each part. */
export interface MeasuredText {
  readonly measure: TextMaximum;
  readonly rates: TextRates;
}

/** Returns the maximum that a request may consume. */
export function measureOf(
  request: MeasuredRequest,
  model: Model,
  { takesAnyFile, tariffUpTo = () => model.tariff, hopTokens = null }: MeasureOptions,
): MeasuredText {
  const { body, bytes, format, cache } = request;
  const isCacheKnown = Boolean(cache);
  const prompt = promptBoundOf({ body, grammar: format.grammar, bytes, model, isCacheKnown, takesAnyFile });
  const requested = format.requestedLimit(body);
  const ownLimit = ownLimitOf(model);
  const limit = Math.max(MIN_OUTPUT_TOKENS, Math.ceil(requested?.tokens ?? 0));
  const reasoning = reasoningBeyondLimit(request);
  const measure = {
    promptTokens: prompt.tokens + (cache?.isImplicit ? cache.tokens : 0),
    cachedTokens: cache?.isImplicit ? 0 : cache?.tokens ?? 0,
    pictures: prompt.pictures,
    hostedTools: prompt.hostedTools,
    searches: prompt.hostedTools === 0 ? model.ownSearches : searchesIn(body) + model.ownSearches,
    outputTokens: requested ? Math.min(ownLimit, limit + reasoning) : ownLimit,
    reasoningTokens: requested ? Math.min(reasoning, Math.max(0, ownLimit - limit)) : 0,
    choices: choicesIn(body),
    limitField: requested?.field ?? null,
    isSizeKnown: prompt.isSizeKnown,
    ...hopTokens !== null && { hopTokens },
  };
  const output = hopTokens === null ? 0 : measure.outputTokens;
  const tariff = tariffUpTo(measure.promptTokens + measure.cachedTokens + output);
  return { measure, rates: ratesOf(tariff, model, promptRateOf(tariff, prompt)) };
}

/** If the catalog has no output limit for the model, the model's context length is the limit. */
function ownLimitOf({ topProvider, contextLength }: Model): number {
  return topProvider.maxCompletionTokens || contextLength || DEFAULT_CONTEXT_TOKENS;
}

function ratesOf(tariff: Tariff, { architecture: { outputModalities } }: Model, prompt: Rate): TextRates {
  let output = tariff.completion;
  if (outputModalities.includes("image")) output = higherRate(output, tariff.image_output);
  if (outputModalities.includes("audio")) output = higherRate(output, tariff.audio_output);
  if (outputModalities.includes("video")) output = higherRate(output, tariff.video_output);
  return {
    prompt,
    cached: tariff.input_cache_read,
    output,
    picture: tariff.per_input_image,
    search: SEARCHES.reduce((highest, key) => higherRate(highest, tariff[key]), 0n),
    request: tariff.request,
  };
}

/** The fees for one call of a hosted tool. Which tool a model calls is its choice. */
const SEARCHES = ["web_search", "maps_search", "file_search", "web_fetch", "ocr_page"] as const;

/**
 * Returns the number of replies that are requested. Each format checks its own field. Vendors ignore the fields of
 * other formats.
 */
function choicesIn(body: JsonObject): number {
  if (body.n === undefined && body.best_of === undefined && !hasConfig(body)) return 1;
  const config = [body.generationConfig, body.generation_config].filter(isObject);
  const counts = [body.n, body.best_of, ...config.flatMap((each) => [each.candidateCount, each.candidate_count])];
  return Math.ceil(Math.max(1, ...counts.map(Number).filter((count) => Number.isFinite(count))));
}

function searchesIn({ tools }: JsonObject): number {
  const uses = Array.isArray(tools) ? tools.map((tool) => isObject(tool) ? tool.max_uses : null) : [];
  return uses.reduce<number>((sum, each) => sum + (typeof each === "number" ? each : DEFAULT_SEARCHES), 0) ||
    DEFAULT_SEARCHES;
}

/**
 * Returns the reasoning tokens that a vendor may use beyond the caller's limit. The messages format requires a budget
 * below the limit, so the limit of a caller of another format is raised.
 */
function reasoningBeyondLimit({ body, format }: MeasuredRequest): number {
  return format.limitIncludesReasoning || !asksForReasoning(body) ? 0 : Math.max(MIN_REASONING_TOKENS, budgetIn(body));
}

function asksForReasoning(body: JsonObject): boolean {
  if (body.reasoning_effort || body.reasoning || body.thinking) return true;
  return hasConfig(body) && thinkingConfigsIn(body).some((each) => Boolean(each));
}

/** Whether the body has the settings object of the content format, in one of its spellings. */
function hasConfig({ generationConfig, generation_config }: JsonObject): boolean {
  return generationConfig !== undefined || generation_config !== undefined;
}

function budgetIn(body: JsonObject): number {
  const settings = [body.reasoning, body.thinking, ...thinkingConfigsIn(body)].filter(isObject);
  const budgets = settings.flatMap((
    each,
  ) => [each.max_tokens, each.budget_tokens, each.thinkingBudget, each.thinking_budget]);
  return Math.max(0, ...budgets.filter((budget) => typeof budget === "number"));
}

function thinkingConfigsIn(body: JsonObject): unknown[] {
  return [body.generationConfig, body.generation_config].filter(isObject)
    .flatMap((config) => [config.thinkingConfig, config.thinking_config]);
}
