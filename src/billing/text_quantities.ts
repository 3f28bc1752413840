import type { Usage } from "../conversation/usage.ts";
import type { QuantitiesBy } from "./tariff.ts";

/**
 * The quantities of one text reply. Media tokens are part of the totals: they are charged at their own price and not
 * again as text. Reasoning is part of the output and not counted again.
 *
 * @param inputImages The number of images in the request.
 */
export function textQuantitiesOf(usage: Usage, inputImages = 0): QuantitiesBy<"text"> {
  const prompt = partsOf(usage.freshTokens + usage.toolPromptTokens, {
    audio: usage.audioInputTokens,
    image: usage.imageInputTokens,
  });
  const cached = partsOf(usage.cacheReadTokens, {
    audio: usage.audioCacheReadTokens,
    image: usage.imageCacheReadTokens,
  });
  const output = partsOf(usage.outputTokens, {
    audio: usage.audioOutputTokens,
    image: usage.imageOutputTokens,
    video: usage.videoOutputTokens,
  });
  return {
    prompt: prompt.rest,
    audio: prompt.audio,
    image_input: prompt.image,
    input_cache_read: cached.rest,
    audio_cache_read: cached.audio,
    image_input_cache_read: cached.image,
    input_cache_write_5m: usage.cacheWrite5mTokens,
    input_cache_write_1h: usage.cacheWrite1hTokens,
    completion: output.rest,
    audio_output: output.audio,
    image_output: output.image,
    video_output: output.video,
    per_image: usage.imagesMade ?? 0,
    per_input_image: inputImages,
    web_search: usage.webSearches ?? 0,
    request: 1,
  };
}

/** Token counts of media in a total; missing ones are zero. */
interface MediaCounts {
  readonly audio?: number | undefined;
  readonly image?: number | undefined;
  readonly video?: number | undefined;
}

/** Splits a total into media, each at most what is left of it, and the rest. */
function partsOf(total: number, counts: MediaCounts) {
  const audio = Math.min(counts.audio ?? 0, total);
  const image = Math.min(counts.image ?? 0, total - audio);
  const video = Math.min(counts.video ?? 0, total - audio - image);
  return { audio, image, video, rest: total - audio - image - video };
}
