import type { Usage } from "../conversation/usage.ts";
import type { QuantitiesBy } from "./tariff.ts";

/** What one reply of text consumed, as it is charged. Reasoning is a part of the output and not counted again. */
export function textQuantitiesOf(usage: Usage): QuantitiesBy<"text"> {
  const pictures = Math.min(usage.imageOutputTokens ?? 0, usage.outputTokens);
  return {
    prompt: usage.freshTokens + usage.toolPromptTokens,
    completion: usage.outputTokens - pictures,
    input_cache_read: usage.cacheReadTokens,
    input_cache_write_5m: usage.cacheWrite5mTokens,
    input_cache_write_1h: usage.cacheWrite1hTokens,
    image_input: 0,
    image_input_cache_read: 0,
    image_output: pictures,
    audio: 0,
    audio_cache_read: 0,
    audio_output: 0,
    video_output: 0,
    per_input_image: 0,
    web_search: 0,
    request: 1,
  };
}
