import type { JsonObject } from "../../../platform/lib/json/json_object.ts";
import { ownValue } from "../../../platform/lib/collections/own_value.ts";
import type { Outbound } from "../call/outbound_call.ts";
import { quotientOf } from "../../../platform/lib/basics/quotient.ts";
import { matchingRatio, shapeOf, type VideoShapes } from "../shared/videos/video_shape.ts";
import type { VideoOrder } from "../contract/video_upstream.ts";
import type { PixelTable, RunwayModel } from "./models.ts";

const SHORT_SIDES: Readonly<Record<string, number>> = {
  "480p": 480,
  "720p": 720,
  "1080p": 1_080,
  "2K": 1_440,
  "4K": 2_160,
};

/** All ratios of the pixels in the tables. */
const PIXEL_RATIOS = ["16:9", "9:16", "1:1", "4:3", "3:4", "21:9"];
/** The pixels decide the resolution, so they are sent even if no ratio is requested. */
const DEFAULT_RATIO = "16:9";

/**
 * Returns the fields `ratio` and `resolution` of a request.
 *
 * @throws {UpstreamFailure} `invalid` for a shape that the model does not support, with the caller's field.
 */
export function shapeFields(outbound: Outbound, order: VideoOrder, model: RunwayModel): JsonObject {
  const hasFrame = order.firstFrame !== null;
  const table = hasFrame ? model.framePixels ?? model.pixels : model.pixels;
  if (table && Object.keys(table).length > 0) return { ratio: pixelsFor(outbound, order, table) };
  const { resolutions = {}, ratios = [] } = model;
  const { resolution, ratio } = shapeOf(outbound, order, shapesWith(resolutions, ratios));
  return {
    ...(resolution !== null && { resolution }),
    // The first frame decides the ratio.
    ...(ratio !== null && ratios.length > 0 && !hasFrame && { ratio }),
  };
}

/** Whether the caller's ratio is not sent, because the model has no field for it here. */
export function dropsRatio({ aspectRatio, firstFrame }: VideoOrder, model: RunwayModel): boolean {
  if (aspectRatio === null) return false;
  const table = firstFrame === null ? model.pixels : model.framePixels ?? model.pixels;
  if (table && Object.keys(table).length > 0) return Object.values(table).flat().every((each) => !each.includes(":"));
  return firstFrame !== null || !model.ratios;
}

function pixelsFor(outbound: Outbound, order: VideoOrder, table: PixelTable): string {
  const exact = order.size && `${order.size.width}:${order.size.height}`;
  if (exact !== null && Object.values(table).some((row) => row.includes(exact))) return exact;
  const values = Object.fromEntries(Object.keys(table).map((resolution) => [resolution, resolution]));
  const { resolution, ratio } = shapeOf(outbound, order, shapesWith(values, PIXEL_RATIOS));
  const row = (resolution === null ? Object.values(table)[0] : ownValue(table, resolution)) ?? [];
  const [first] = row;
  if (first === undefined) throw unsupported(outbound, "resolution", `one of ${Object.keys(table).join(", ")}`);
  if (!first.includes(":")) return first;
  const pixels = matchingRatio(quotientOf(ratio ?? DEFAULT_RATIO), row);
  if (pixels === null) throw unsupported(outbound, "aspect_ratio", `a ratio of one of ${row.join(", ")}`);
  return pixels;
}

function shapesWith(values: Readonly<Record<string, string>>, ratios: readonly string[]): VideoShapes {
  const rows = Object.entries(values).map((
    [resolution, value],
  ) => [resolution, { value, shortSide: ownValue(SHORT_SIDES, resolution) }]);
  return { resolutions: Object.fromEntries(rows), ratios };
}

function unsupported(outbound: Outbound, field: string, expected: string) {
  return outbound.failure("invalid", `This ${field} is not supported: expected ${expected}`, { field });
}
