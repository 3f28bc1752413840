import type { Usage } from "../conversation/usage.ts";
import type { QuantitiesBy } from "./tariff.ts";

/**
 * What one reply of text consumed, as it is charged. Media are parts of the totals: what they took is charged at their
 * own price and not again as text. Reasoning is a part of the output and not counted again.
 *
 * @param inputImages How many images the request gave.
 */
export function textQuantitiesOf(usage: Usage, inputImages = 0): QuantitiesBy<"text"> {
  const prompt = partsOf(usage.freshTokens + usage.toolPromptTokens, [usage.audioInputTokens, usage.imageInputTokens]);
  const cached = partsOf(usage.cacheReadTokens, [usage.audioCacheReadTokens, usage.imageCacheReadTokens]);
  const output = partsOf(usage.outputTokens, [
    usage.audioOutputTokens,
    usage.imageOutputTokens,
    usage.videoOutputTokens,
  ]);
  return {
    prompt: prompt.rest,
    audio: prompt.parts[0],
    image_input: prompt.parts[1],
    input_cache_read: cached.rest,
    audio_cache_read: cached.parts[0],
    image_input_cache_read: cached.parts[1],
    input_cache_write_5m: usage.cacheWrite5mTokens,
    input_cache_write_1h: usage.cacheWrite1hTokens,
    completion: output.rest,
    audio_output: output.parts[0],
    image_output: output.parts[1],
    video_output: output.parts[2],
    per_image: usage.imagesMade ?? 0,
    per_input_image: inputImages,
    web_search: usage.webSearches ?? 0,
    request: 1,
  };
}

/** Parts of a total, none beyond what is left of it, and the rest. */
function partsOf(total: number, counts: readonly (number | undefined)[]) {
  let rest = total;
  const parts = counts.map((count = 0) => {
    const part = Math.min(count, rest);
    rest -= part;
    return part;
  });
  return { parts, rest };
}
