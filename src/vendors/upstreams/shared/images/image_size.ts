import { quotientOf } from "../../../../platform/lib/basics/quotient.ts";

/** A size in pixels. */
export interface Pixels {
  readonly width: number;
  readonly height: number;
}

/** Parses a requested size; null for `auto` and for no size. */
export function pixelsOf(size: string | null): Pixels | null {
  const match = /^([1-9]\d{0,4})x([1-9]\d{0,4})$/.exec(size ?? "");
  return match === null ? null : { width: Number(match[1]), height: Number(match[2]) };
}

/** Scales a size down to an area. Both sides are rounded down to multiples of `grain`. */
export function withinArea({ width, height }: Pixels, maxPixels: number, grain: number): Pixels {
  return scaledBy({ width, height }, Math.sqrt(maxPixels / (width * height)), grain);
}

/** Scales a size down to a maximum side length. Both sides are rounded down to multiples of `grain`. */
export function withinSide({ width, height }: Pixels, maxSide: number, grain: number): Pixels {
  return scaledBy({ width, height }, maxSide / Math.max(width, height), grain);
}

function scaledBy({ width, height }: Pixels, factor: number, grain: number): Pixels {
  const side = (pixels: number) => Math.max(grain, Math.floor(pixels * Math.min(1, factor) / grain) * grain);
  return { width: side(width), height: side(height) };
}

/**
 * Returns the ratio nearest to that of a size. Distances are logarithmic: 3:2 and 2:3 are equally far from 1:1.
 *
 * @param ratios Such as `16:9` or `19.5:9`, or sizes such as `2048x2048`; at least one.
 */
export function nearestRatio({ width, height }: Pixels, ratios: readonly string[]): string {
  const distanceOf = (ratio: string) => Math.abs(Math.log(width / height) - Math.log(quotientOf(ratio)));
  return ratios.reduce((best, ratio) => distanceOf(ratio) < distanceOf(best) ? ratio : best);
}
