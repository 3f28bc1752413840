import type { Catalog, DatedCatalog } from "../../../vendors/catalog/catalog.ts";
import { type CatalogFor, type PreparedResponse, preparedResponse } from "../../../vendors/catalog/listing.ts";
import { pricePerSecondOf, type VideoSection } from "../../../vendors/catalog/sections/media_sections.ts";
import type { Model } from "../../../vendors/catalog/model.ts";
import { CALLER_ENDPOINTS as ENDPOINTS } from "../../../platform/endpoints/callers.ts";
import type { Route } from "../../../platform/http/request/inbound.ts";
import { routesAt } from "../../route_at.ts";

/** Larger ranges of seconds are not listed individually. */
const MAX_LISTED_DURATIONS = 120;

/**
 * `GET /v1/videos/models`: the video models and their options, in the format of OpenRouter's clients. Public like the
 * other catalogs, and limited by a key like them. Source: OpenRouter API reference, "List all video generation models".
 */
export function videoModelRoutes(
  catalog: DatedCatalog,
  catalogFor: CatalogFor = ({ receivedAt }) => catalog.at(receivedAt),
): Route[] {
  let made: { readonly catalog: Catalog; readonly answer: PreparedResponse } | null = null;
  return routesAt(ENDPOINTS.listVideoModels, async (inbound) => {
    const permitted = await catalogFor(inbound);
    const whole = catalog.at(inbound.receivedAt);
    if (permitted !== whole) {
      return await preparedResponse({ data: videoModelsOf(permitted) }, "private, no-cache")(inbound);
    }
    if (made?.catalog !== whole) {
      made = { catalog: whole, answer: preparedResponse({ data: videoModelsOf(whole) }) };
    }
    return await made.answer(inbound);
  });
}

function videoModelsOf(catalog: Catalog): unknown[] {
  const aliases = catalog.listedAliases.map(({ name, model }) => ({ ...model, id: name }));
  return [...catalog.forProtocol("default"), ...aliases].flatMap((model) =>
    model.video === null ? [] : [writeVideoModel(model, model.video)]
  );
}

/** Unknown properties of a model are null. */
function writeVideoModel(model: Model, video: VideoSection): Record<string, unknown> {
  return {
    id: model.id,
    canonical_slug: model.canonicalSlug,
    name: model.name,
    description: model.description,
    created: model.created,
    supported_resolutions: video.resolutions,
    supported_aspect_ratios: video.aspectRatios,
    supported_sizes: null,
    supported_durations: durationsOf(video),
    supported_frame_images: framesOf(video),
    generate_audio: video.audio !== "never",
    seed: null,
    creativity: null,
    upscale_factor: null,
    pricing_skus: pricesOf(video),
    allowed_passthrough_parameters: [],
  };
}

function durationsOf({ duration: { leastSeconds, mostSeconds, onlySeconds } }: VideoSection): readonly number[] | null {
  if (onlySeconds) return onlySeconds;
  const count = mostSeconds - leastSeconds + 1;
  return count > MAX_LISTED_DURATIONS ? null : Array.from({ length: count }, (_, n) => leastSeconds + n);
}

function framesOf({ modes }: VideoSection): string[] {
  const hasLast = modes.includes("img2video_end");
  return [...(hasLast || modes.includes("img2video") ? ["first_frame"] : []), ...(hasLast ? ["last_frame"] : [])];
}

/**
 * The price of one second in decimal USD: `duration_seconds_720p`, with the sound before the resolution if it makes a
 * difference.
 */
function pricesOf(video: VideoSection): Record<string, string> {
  const prices: Record<string, string> = {};
  const add = (sku: string, price: string | null) => {
    if (price !== null) prices[sku] = price;
  };
  for (const resolution of video.resolutions) {
    const audio = pricePerSecondOf(video, resolution, true);
    const silent = pricePerSecondOf(video, resolution, false);
    if (audio === silent) add(`duration_seconds_${resolution}`, audio);
    else {
      add(`duration_seconds_with_audio_${resolution}`, audio);
      add(`duration_seconds_without_audio_${resolution}`, silent);
    }
  }
  return prices;
}
