import type { Usage } from "../conversation/usage.ts";
import { type BillLine, type Money, type Rate, readRate, sumOf } from "../lib/money.ts";

/** What one model costs. Where a cache has no price of its own, the prompt's holds. Source: SPEC "Model objects". */
export interface Prices {
  /** Of one prompt token. */
  readonly prompt: Rate;
  /** Of one token produced, reasoning included. */
  readonly completion: Rate;
  readonly cacheRead: Rate;
  readonly cacheWrite5m: Rate;
  readonly cacheWrite1h: Rate;
  /** Of one token of an image that was given. */
  readonly imageInput: Rate;
  /** Of one token of an image that was made. */
  readonly imageOutput: Rate;
  /** Of one token of audio that was given. */
  readonly audio: Rate;
  /** Of one image that was made, apart from its tokens; zero where images are priced by tokens. */
  readonly perImage: Rate;
  /** Of one image that was given, apart from its tokens. */
  readonly perInputImage: Rate;
  /** Of one request, apart from what it consumes. */
  readonly request: Rate;
}

/**
 * Reads a catalog's `pricing`: decimal strings of USD by key (`prompt`, `completion`, `input_cache_read`,
 * `input_cache_write`, `input_cache_write_5m`, `input_cache_write_1h`, `image_input` or
 * `image`, `image_output`, `audio`, `per_image`, `per_input_image`, `request`). One that is missing or null follows the
 * price it is nearest to (a cache's or a medium's the prompt's, an image that is made the completion's), else it is
 * zero. Other keys are not looked at.
 *
 * @throws {RangeError} If a price is no decimal string, below zero or finer than 10^-18; the message names the key.
 */
export function readPrices(pricing: Readonly<Record<string, unknown>>): Prices {
  const prompt = rateIn(pricing, "prompt") ?? 0n;
  const completion = rateIn(pricing, "completion") ?? 0n;
  const cacheWrite = rateIn(pricing, "input_cache_write");
  const cacheWrite5m = rateIn(pricing, "input_cache_write_5m") ?? cacheWrite ?? prompt;
  return {
    prompt,
    completion,
    cacheRead: rateIn(pricing, "input_cache_read") ?? prompt,
    cacheWrite5m,
    cacheWrite1h: rateIn(pricing, "input_cache_write_1h") ?? cacheWrite ?? cacheWrite5m,
    imageInput: rateIn(pricing, "image_input") ?? rateIn(pricing, "image") ?? prompt,
    imageOutput: rateIn(pricing, "image_output") ?? completion,
    audio: rateIn(pricing, "audio") ?? prompt,
    perImage: rateIn(pricing, "per_image") ?? 0n,
    perInputImage: rateIn(pricing, "per_input_image") ?? 0n,
    request: rateIn(pricing, "request") ?? 0n,
  };
}

function rateIn(pricing: Readonly<Record<string, unknown>>, key: string): Rate | null {
  const text = Object.hasOwn(pricing, key) ? pricing[key] : null;
  if (text === null || text === undefined) return null;
  if (typeof text !== "string") throw new RangeError(`Cannot read the price "${key}": expected a decimal string`);
  try {
    return readRate(text);
  } catch (cause) {
    throw new RangeError(`Cannot read the price "${key}": ${(cause as Error).message}`, { cause });
  }
}

/** The cost of one reply of text, rounded half up once. */
export function costOf(usage: Usage, prices: Prices): Money {
  return sumOf(billLinesOf(usage, prices));
}

/** What {@linkcode costOf} adds up. Reasoning is a part of the output and not billed again. */
export function billLinesOf(usage: Usage, prices: Prices): BillLine[] {
  const pictures = Math.min(usage.imageOutputTokens ?? 0, usage.outputTokens);
  return [
    { quantity: usage.freshTokens + usage.toolPromptTokens, rate: prices.prompt },
    { quantity: usage.cacheReadTokens, rate: prices.cacheRead },
    { quantity: usage.cacheWrite5mTokens, rate: prices.cacheWrite5m },
    { quantity: usage.cacheWrite1hTokens, rate: prices.cacheWrite1h },
    { quantity: usage.outputTokens - pictures, rate: prices.completion },
    { quantity: pictures, rate: prices.imageOutput },
    { quantity: 1, rate: prices.request },
  ];
}
