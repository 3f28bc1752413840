import type { Outbound } from "../../call/outbound_call.ts";
import { quotientOf } from "../../../../platform/lib/basics/quotient.ts";
import type { VideoOrder } from "../../contract/video_upstream.ts";

/** The shapes that a vendor supports. */
export interface VideoShapes {
  /**
   * By the gateway's value of the resolution: the vendor's value, and the pixels of the short side. Smallest first.
   */
  readonly resolutions: Readonly<Record<string, { readonly value: string; readonly shortSide: number }>>;
  /** `<width>:<height>`. */
  readonly ratios: readonly string[];
}

/** A shape in the vendor's values; null for what the vendor decides. */
export interface VideoShape {
  readonly resolution: string | null;
  readonly ratio: string | null;
}

/** The maximum relative difference between a size and a ratio: 1366x768 counts as 16:9. */
const RATIO_TOLERANCE = 0.03;

/**
 * Returns the shape for a vendor that supports a resolution and a ratio but no pixels. A size becomes the resolution
 * that is charged for it, else the smallest one that contains its short side, and the nearest ratio. Unknown values are
 * sent unchanged, so that the vendor's error lists the valid ones.
 *
 * @throws {UpstreamFailure} `invalid` for a size that the vendor does not support.
 */
export function shapeOf(outbound: Outbound, order: VideoOrder, shapes: VideoShapes): VideoShape {
  const { size, resolution, aspectRatio } = order;
  const requested = resolution === null ? null : shapes.resolutions[resolution]?.value ?? resolution.toLowerCase();
  if (size === null) return { resolution: requested, ratio: aspectRatio };
  const short = Math.min(size.width, size.height);
  const containing = Object.values(shapes.resolutions).find(({ shortSide }) => shortSide >= short)?.value ?? null;
  const ratio = matchingRatio(size.width / size.height, shapes.ratios);
  const value = requested ?? containing;
  if (value !== null && ratio !== null) return { resolution: value, ratio };
  const expected = value ? `one of the ratios ${shapes.ratios.join(", ")}` : "a smaller size";
  throw outbound.failure("invalid", `The size ${size.width}x${size.height} is not supported: expected ${expected}`, {
    field: "size",
  });
}

/**
 * Returns the ratio, `<width>:<height>`, nearest to a quotient of width and height; null if none is within
 * {@linkcode RATIO_TOLERANCE}.
 */
export function matchingRatio(quotient: number, ratios: readonly string[]): string | null {
  const distanceTo = (ratio: string) => Math.abs(quotient / quotientOf(ratio) - 1);
  const [nearest] = [...ratios].sort((a, b) => distanceTo(a) - distanceTo(b));
  return nearest !== undefined && distanceTo(nearest) <= RATIO_TOLERANCE ? nearest : null;
}
