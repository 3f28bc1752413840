import type { QuantitiesBy } from "../../money/billing/prices/tariff.ts";
import { mediumTokensOf } from "../../conversation/neutral/usage.ts";
import { ownValue } from "../../platform/lib/collections/own_value.ts";
import type { ImageConsumption } from "../../vendors/upstreams/contract/image_upstream.ts";

/** The properties of a request that determine its consumption. */
export interface ImageMeasure {
  readonly prompt: string;
  readonly quality: string;
  readonly size: string | null;
  /** The number of pictures to make. */
  readonly count: number;
  /** The number of input pictures without the mask. */
  readonly given: number;
  /** The number of frames of each picture. Default: 1, for one that is not animated. */
  readonly frames?: number;
}

const SQUARE_PIXELS = 1024 * 1024;
/** Output tokens of one picture of 1024 by 1024. Source: OpenAI API reference, "Image generation", cost and latency. */
const SQUARE_TOKENS: Readonly<Record<string, number>> = {
  low: 272,
  medium: 1_056,
  standard: 1_056,
  // Not published. Each quality below takes four times the tokens of the one before it.
  xhigh: 16_640,
  max: 66_560,
};
/** For `high` and for unspecified quality. */
const HIGH_SQUARE_TOKENS = 4_160;
const GIVEN_IMAGE_TOKENS = 1_600;
const CHARACTERS_PER_TOKEN = 4;

/** For an input picture at the highest detail. */
const MAX_GIVEN_IMAGE_TOKENS = 8_000;
/** Text has at least this many bytes per token. Source: docs/money.md#reservations. */
const MIN_BYTES_PER_TOKEN = 2;
/** Source: OpenAI API reference, "Image generation": each partial picture takes 100 more output tokens. */
export const PARTIAL_TOKENS = 100;

/** The properties of an order that determine its maximum consumption. */
export interface ImageOrderMeasure extends ImageMeasure {
  readonly hasMask: boolean;
  /** The number of partial pictures per picture. */
  readonly partialImages: number;
  /** The maximum number of vendor calls: each receives the whole prompt. */
  readonly calls: number;
}

/** The maximum consumption of a request if its vendor makes what was ordered. */
export function maxConsumption(order: ImageOrderMeasure): ImageConsumption {
  const { prompt, count, given, hasMask, partialImages, calls } = order;
  const { outputTokens } = estimatedConsumption(order);
  const promptBytes = new TextEncoder().encode(prompt).length;
  return {
    textTokens: calls * Math.ceil(promptBytes / MIN_BYTES_PER_TOKEN),
    imageTokens: calls * (given + (hasMask ? 1 : 0)) * MAX_GIVEN_IMAGE_TOKENS,
    cachedTokens: 0,
    outputTokens: outputTokens + count * partialImages * PARTIAL_TOKENS,
    outputTextTokens: 0,
  };
}

/** The likely consumption of a request, for vendors without a report. */
export function estimatedConsumption(
  { prompt, quality, size, count, given, frames = 1 }: ImageMeasure,
): ImageConsumption {
  const [, width = 1536, height = 1024] = /^(\d+)x(\d+)$/.exec(size ?? "") ?? [];
  const square = ownValue(SQUARE_TOKENS, quality) ?? HIGH_SQUARE_TOKENS;
  return {
    textTokens: Math.ceil(prompt.length / CHARACTERS_PER_TOKEN),
    imageTokens: given * GIVEN_IMAGE_TOKENS,
    cachedTokens: 0,
    outputTokens: Math.ceil(count * frames * square * Number(width) * Number(height) / SQUARE_PIXELS),
    outputTextTokens: 0,
  };
}

/** What the vendor made, as far as it is known. */
export interface MadeImages {
  /** The size of each picture, `<width>x<height>`; null where it is not known. */
  readonly sizes: readonly (string | null)[];
  /** As the vendor reports it; null if it reports none. */
  readonly quality: string | null;
}

/**
 * The likely consumption of pictures that were made, for vendors without a report. A picture that is smaller or of a
 * lower quality than ordered counts as what it is. A larger one counts as ordered, and so does any if the vendor was to
 * choose the size.
 */
export function consumptionMade(measure: ImageMeasure, { sizes, quality }: MadeImages): ImageConsumption {
  const ordered = estimatedConsumption({ ...measure, count: 1 }).outputTokens;
  const isSizeOrdered = /^\d/.test(measure.size ?? "");
  const tokensOf = (made: string | null) => {
    const size = isSizeOrdered ? made ?? measure.size : measure.size;
    const look = { size, quality: quality ?? measure.quality };
    return Math.min(estimatedConsumption({ ...measure, ...look, count: 1 }).outputTokens, ordered);
  };
  const outputTokens = sizes.reduce((sum, size) => sum + tokensOf(size), 0);
  return { ...estimatedConsumption({ ...measure, count: 0 }), outputTokens };
}

/**
 * The chargeable quantities: tokens, pictures and the request. If a vendor reports the number of cached tokens without
 * their type, as many tokens of pictures as possible count as fresh, which is never cheaper.
 *
 * @param pictures The numbers of made and of input pictures.
 */
export function imageQuantitiesOf(
  consumption: ImageConsumption,
  { made, given }: { readonly made: number; readonly given: number },
): QuantitiesBy<"image"> {
  const { cacheTextTokens, cacheImageTokens } = cachedParts(consumption);
  return {
    prompt: consumption.textTokens - cacheTextTokens,
    input_cache_read: cacheTextTokens,
    image_input: consumption.imageTokens - cacheImageTokens,
    image_input_cache_read: cacheImageTokens,
    completion: consumption.outputTextTokens,
    image_output: consumption.outputTokens - consumption.outputTextTokens,
    per_image: made,
    per_input_image: given,
    request: 1,
  };
}

/** The tokens of input pictures, split as for texts, so that one reply has one price at all endpoints. */
function cachedParts({ textTokens, imageTokens, cachedTokens, cachedImageTokens }: ImageConsumption) {
  const all = textTokens + imageTokens;
  const cached = Math.min(cachedTokens, all);
  const usage = { freshTokens: all - cached, toolPromptTokens: 0, cacheReadTokens: cached };
  const { cached: cacheImageTokens } = mediumTokensOf(imageTokens, cachedImageTokens ?? null, usage);
  return { cacheTextTokens: cached - cacheImageTokens, cacheImageTokens };
}
