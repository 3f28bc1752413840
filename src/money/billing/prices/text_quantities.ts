import type { Usage } from "../../../conversation/neutral/usage.ts";
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
  const written = writesOf(usage);
  return {
    prompt: prompt.rest,
    audio: prompt.audio,
    image_input: prompt.image,
    input_cache_read: cached.rest,
    audio_cache_read: cached.audio,
    image_input_cache_read: cached.image,
    input_cache_write_5m: written.rest,
    input_cache_write_30m: written.halfHour,
    input_cache_write_1h: usage.cacheWrite1hTokens,
    input_cache_write_12h: written.halfDay,
    input_cache_write_24h: written.day,
    completion: output.rest,
    audio_output: output.audio,
    image_output: output.image,
    video_output: output.video,
    audio_second: usage.audioSeconds ?? 0,
    per_image: usage.imagesMade ?? 0,
    per_input_image: inputImages,
    web_search: usage.webSearches ?? 0,
    maps_search: usage.mapSearches ?? 0,
    file_search: usage.fileSearches ?? 0,
    web_fetch: usage.webFetches ?? 0,
    ocr_page: usage.ocrPages ?? 0,
    request: 1,
  };
}

/**
 * Splits the cache writes that do not live an hour by their lifetime. The rest lives as long as the vendor's shortest.
 */
function writesOf({ cacheWrite5mTokens: total, cacheWrite30mTokens, cacheWrite12hTokens, cacheWrite24hTokens }: Usage) {
  const day = Math.min(cacheWrite24hTokens ?? 0, total);
  const halfDay = Math.min(cacheWrite12hTokens ?? 0, total - day);
  const halfHour = Math.min(cacheWrite30mTokens ?? 0, total - day - halfDay);
  return { day, halfDay, halfHour, rest: total - day - halfDay - halfHour };
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
