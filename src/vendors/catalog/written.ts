import { pricePerSecondOf } from "./sections/media_sections.ts";
import type { Architecture, Model, TopProvider } from "./model.ts";
import { isRecurring, isTimeOnly, writeConditions, writeMoment } from "./prices/price_conditions.ts";
import { type AppliedPrices, isPast, pricesAt, pricesWith } from "./prices/price_list.ts";

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

/** Prices under conditions, as in all three catalogs. */
export type WrittenOverride = Readonly<Record<string, string | number | boolean | readonly string[]>>;

/**
 * The prices that apply under conditions, and those that are still to come, as in all three catalogs: the conditions,
 * and the prices that differ then, by the names of `pricing`. Null if there are none.
 *
 * @param write Writes the prices of a model.
 */
export function writePriceOverrides(
  model: Model,
  write: (model: Model) => Record<string, string> = writePricing,
): WrittenOverride[] | null {
  const { prices, pricedAt } = model;
  const writeFor = ({ pricing, pricePerSecond }: AppliedPrices) =>
    write({
      ...model,
      pricing,
      video: model.video && { ...model.video, pricePerSecond: { ...model.video.pricePerSecond, ...pricePerSecond } },
    });
  const usual = write(model);
  const lists = [[null, prices] as const, ...Object.entries(prices.tiers)];
  const written = lists.flatMap(([tier, { overrides }]) => {
    let before = tier === null ? usual : writeFor(pricesWith(prices, pricedAt, null, tier));
    const ofTier = tier === null ? [] : [{ service_tier: tier, ...changedIn(usual, before) }];
    const own = overrides.filter((each) => !isPast(each, pricedAt)).map((each) => {
      const isDate = each.from !== null && isTimeOnly(each) && !isRecurring(each) && each.until === null;
      const after = writeFor(
        isDate && tier === null ? pricesAt(prices, each.from) : pricesWith(prices, pricedAt, each, tier),
      );
      const changed = changedIn(before, after);
      if (isDate) before = after;
      return { ...tier !== null && { service_tier: tier }, ...writeConditions(each), ...changed };
    });
    return [...ofTier, ...own];
  });
  return written.length === 0 ? null : written;
}

function changedIn(before: Record<string, string>, after: Record<string, string>): Record<string, string> {
  return Object.fromEntries(Object.entries(after).filter(([key, price]) => before[key] !== price));
}

/** The model that the vendor answers with in this one's place, and from when; null if there is none in the catalog. */
export function writeRedirect({ redirect }: Model): { model: string; from: string } | null {
  if (redirect === null || redirect.model === null) return null;
  return { model: redirect.model, from: writeMoment(redirect.from) };
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
