import { pricePerSecondOf } from "./media_sections.ts";
import type { Architecture, Model, TopProvider } from "./model.ts";

/** `architecture` as in all three catalogs; inner keys stay snake_case. Source: docs/api/models.md#default-style. */
export function writeArchitecture(architecture: Architecture): Record<string, unknown> {
  return {
    modality: architecture.modality,
    input_modalities: architecture.inputModalities,
    output_modalities: architecture.outputModalities,
    tokenizer: architecture.tokenizer,
    instruct_type: architecture.instructType,
  };
}

/** The maximum number of output tokens: the context length if no limit is known. */
export function outputLimitOf(top: TopProvider): number {
  return top.maxCompletionTokens || top.contextLength;
}

/** `top_provider` or `topProvider` as in all three catalogs. Source: docs/api/models.md#default-style. */
export function writeTopProvider(top: TopProvider): Record<string, unknown> {
  return {
    context_length: top.contextLength,
    max_completion_tokens: outputLimitOf(top),
    is_moderated: top.isModerated,
  };
}

/**
 * `pricing` as in all three catalogs: the operator's own decimals. The seconds of a video model are added as
 * `per_second_<resolution>`, with the suffix `_audio` or `_silent` where sound makes a difference.
 */
export function writePricing(model: Model): Record<string, string> {
  const written: Record<string, string> = { ...model.pricing };
  const { video } = model;
  if (video === null) return written;
  for (const resolution of video.resolutions) {
    const audio = pricePerSecondOf(video, resolution, true);
    const silent = pricePerSecondOf(video, resolution, false);
    if (audio === silent) add(`per_second_${resolution}`, audio);
    else {
      add(`per_second_${resolution}_audio`, audio);
      add(`per_second_${resolution}_silent`, silent);
    }
  }
  return written;

  function add(key: string, price: string | null): void {
    if (price !== null) written[key] = price;
  }
}

/** A model's video options for the default catalog; null if it makes no videos. */
export function writeVideo({ video }: Model): Record<string, unknown> | null {
  if (video === null) return null;
  const { leastSeconds, mostSeconds, onlySeconds, defaultSeconds, isOpen } = video.duration;
  return {
    modes: video.modes,
    resolutions: video.resolutions,
    default_resolution: video.defaultResolution,
    aspect_ratios: video.aspectRatios,
    duration: {
      min: leastSeconds,
      max: mostSeconds,
      ...(onlySeconds && { only: onlySeconds }),
      default: defaultSeconds,
      auto: isOpen,
    },
    audio: video.audio,
    max_references: video.references,
  };
}
