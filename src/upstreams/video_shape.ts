import type { Outbound } from "./outbound_call.ts";
import { quotientOf } from "./quotient.ts";
import type { VideoOrder } from "./video_upstream.ts";

/** What shapes a vendor makes. */
export interface VideoShapes {
  /** By our word of the resolution: the vendor's word, and the pixels of its short side. Smallest first. */
  readonly resolutions: Readonly<Record<string, { readonly word: string; readonly shortSide: number }>>;
  /** `<width>:<height>`. */
  readonly ratios: readonly string[];
}

/** A shape in the vendor's words; null for what the order leaves to the vendor. */
export interface VideoShape {
  readonly resolution: string | null;
  readonly ratio: string | null;
}

/** How far a size may be off a ratio: 1366x768 is sold as 16:9. */
const RATIO_TOLERANCE = 0.03;

/**
 * The shape of an order for a vendor that takes a resolution and a ratio but no pixels. A size becomes the resolution
 * that it is priced as, else the smallest that holds its short side, and the ratio next to its own. Words that the
 * vendor does not know are passed on, so that it names those that it does.
 *
 * @throws {UpstreamFailure} `invalid` for a size that the vendor cannot make.
 */
export function shapeOf(outbound: Outbound, order: VideoOrder, shapes: VideoShapes): VideoShape {
  const { size, resolution, aspectRatio } = order;
  const asked = resolution === null ? null : shapes.resolutions[resolution]?.word ?? resolution.toLowerCase();
  if (size === null) return { resolution: asked, ratio: aspectRatio };
  const short = Math.min(size.width, size.height);
  const holding = Object.values(shapes.resolutions).find(({ shortSide }) => shortSide >= short)?.word ?? null;
  const ratio = ratioNextTo(size.width / size.height, shapes.ratios);
  const word = asked ?? holding;
  if (word !== null && ratio !== null) return { resolution: word, ratio };
  const expected = word ? `one of the ratios ${shapes.ratios.join(", ")}` : "a smaller one";
  throw outbound.failure("invalid", `Cannot make a video of ${size.width}x${size.height}: expected ${expected}`, {
    field: "size",
  });
}

/**
 * The one of some ratios, `<width>:<height>`, that is next to a quotient of width and height; null when none is within
 * three hundredths of it.
 */
export function ratioNextTo(wanted: number, ratios: readonly string[]): string | null {
  const distanceTo = (ratio: string) => Math.abs(wanted / quotientOf(ratio) - 1);
  const [nearest] = [...ratios].sort((a, b) => distanceTo(a) - distanceTo(b));
  return nearest !== undefined && distanceTo(nearest) <= RATIO_TOLERANCE ? nearest : null;
}
