import { pricePerSecondOf } from "./media_sections.ts";
import type { Architecture, Model, TopProvider } from "./model.ts";
import { pricedAt } from "./model_at.ts";

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

/**
 * The prices that are still to come, as in all three catalogs: for each moment, the prices that change then, by the
 * names of `pricing`. Null if none is known.
 *
 * @param write Writes the prices of a model.
 */
export function writePriceChanges(
  model: Model,
  write: (model: Model) => Record<string, string> = writePricing,
): Record<string, string>[] | null {
  if (model.priceChanges.length === 0) return null;
  let before = write(model);
  return model.priceChanges.map(({ from }) => {
    const after = write(pricedAt(model, from));
    const changed = Object.entries(after).filter(([key, price]) => before[key] !== price);
    before = after;
    return { from: writeMoment(from), ...Object.fromEntries(changed) };
  });
}

/** The model that the vendor answers with in this one's place, and from when; null if there is none in the catalog. */
export function writeRedirect({ redirect }: Model): { model: string; from: string } | null {
  if (redirect === null || redirect.model === null) return null;
  return { model: redirect.model, from: writeMoment(redirect.from) };
}

/** ISO 8601 in UTC, to the second. */
function writeMoment(ms: number): string {
  return new Date(ms).toISOString().replace(/\.\d{3}Z$/, "Z");
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
