import type { QuantitiesBy } from "../billing/tariff.ts";
import { ownValue } from "../lib/own_value.ts";
import type { ImageConsumption } from "../upstreams/image_upstream.ts";

/** The properties of a request that determine its consumption. */
export interface ImageMeasure {
  readonly prompt: string;
  readonly quality: string;
  readonly size: string | null;
  /** The number of pictures to make. */
  readonly count: number;
  /** The number of input pictures without the mask. */
  readonly given: number;
}

const SQUARE_PIXELS = 1024 * 1024;
/** Output tokens of one picture of 1024 by 1024. Source: OpenAI API reference, "Image generation", cost and latency. */
const SQUARE_TOKENS: Readonly<Record<string, number>> = { low: 272, medium: 1_056, standard: 1_056 };
/** For `high` and for unspecified quality. */
const MAX_SQUARE_TOKENS = 4_160;
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
  };
}

/** The likely consumption of a request, for vendors without a report. */
export function estimatedConsumption({ prompt, quality, size, count, given }: ImageMeasure): ImageConsumption {
  const [, width = 1536, height = 1024] = /^(\d+)x(\d+)$/.exec(size ?? "") ?? [];
  const square = ownValue(SQUARE_TOKENS, quality) ?? MAX_SQUARE_TOKENS;
  return {
    textTokens: Math.ceil(prompt.length / CHARACTERS_PER_TOKEN),
    imageTokens: given * GIVEN_IMAGE_TOKENS,
    cachedTokens: 0,
    outputTokens: Math.ceil(count * square * Number(width) * Number(height) / SQUARE_PIXELS),
  };
}

/**
 * The chargeable quantities: tokens, pictures and the request. A vendor reports the number of cached tokens without
 * their type; they are divided between text and pictures in proportion.
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
    image_output: consumption.outputTokens,
    per_image: made,
    per_input_image: given,
    request: 1,
  };
}

/** The total consumption of several calls; null if none of them reported any. */
export function sumOfConsumptions(parts: readonly (ImageConsumption | null)[]): ImageConsumption | null {
  const known = parts.filter((part) => part !== null);
  if (known.length === 0) return null;
  const total = (count: (part: ImageConsumption) => number) => known.reduce((sum, part) => sum + count(part), 0);
  return {
    textTokens: total((part) => part.textTokens),
    imageTokens: total((part) => part.imageTokens),
    cachedTokens: total((part) => part.cachedTokens),
    outputTokens: total((part) => part.outputTokens),
    ...known.some(({ isUnreadable }) => isUnreadable) ? { isUnreadable: true } : {},
  };
}

function cachedParts({ textTokens, imageTokens, cachedTokens }: ImageConsumption) {
  const all = textTokens + imageTokens;
  const cached = Math.min(cachedTokens, all);
  const cacheImageTokens = all === 0 ? 0 : Math.round(cached * imageTokens / all);
  return { cacheTextTokens: cached - cacheImageTokens, cacheImageTokens };
}
