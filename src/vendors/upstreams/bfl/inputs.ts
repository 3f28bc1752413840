import { nearestRatio, pixelsOf, withinArea, withinSide } from "../shared/images/image_size.ts";
import type { ImageOrder, ImageSource } from "../contract/image_upstream.ts";

/** The input fields of a family of FLUX models. */
export interface FluxInputs {
  /** The field of the first image. The fields of further images have a number as suffix. */
  readonly image: string;
  /** The maximum number of images. */
  readonly maxImages: number;
  /** The maximum number of pixels of an image that its price covers. Null if every image costs the same. */
  readonly maxImagePixels: number | null;
  /** Whether the shape is sent as pixels or as a ratio. */
  readonly shape: "pixels" | "ratio";
}

const MEGAPIXEL = 1_048_576;
/**
 * BFL bills input images by the megapixel. The catalog has one price per input image, which covers this many pixels.
 */
const MAX_PRICED_IMAGE_PIXELS = 4 * MEGAPIXEL;
/** BFL bills output images by the megapixel, rounded up. The catalog's price covers this many pixels. */
const MAX_AUTO_PIXELS = 2 * MEGAPIXEL;

const FLUX_2: FluxInputs = {
  image: "input_image",
  maxImages: 8,
  maxImagePixels: MAX_PRICED_IMAGE_PIXELS,
  shape: "pixels",
};

/** Families by model name prefix. The first match applies. Source: BFL API reference, the inputs of each model. */
const FAMILIES: readonly (readonly [prefix: string, inputs: FluxInputs])[] = [
  ["flux-2-klein", { ...FLUX_2, maxImages: 4 }],
  ["flux-kontext", { ...FLUX_2, maxImages: 4, maxImagePixels: null, shape: "ratio" }],
  ["flux-pro-1.1-ultra", { image: "image_prompt", maxImages: 1, maxImagePixels: null, shape: "ratio" }],
  ["flux-pro", { image: "image_prompt", maxImages: 1, maxImagePixels: null, shape: "pixels" }],
  ["flux-dev", { image: "image_prompt", maxImages: 1, maxImagePixels: null, shape: "pixels" }],
];

/** Returns the input fields of a model. Unknown models have those of the newest family. */
export function inputsOf(model: string): FluxInputs {
  return FAMILIES.find(([prefix]) => model.startsWith(prefix))?.[1] ?? FLUX_2;
}

const RATIOS = ["21:9", "16:9", "3:2", "4:3", "1:1", "3:4", "2:3", "9:16", "9:21"];
const GRAIN = 32;
/** The maximum side length for models of the first generation. */
const MAX_FIRST_SIDE = 1_440;

/**
 * Returns the shape fields of a request. An edit without a size keeps the shape of its input, up to
 * {@linkcode MAX_AUTO_PIXELS}. The vendor would otherwise create, and bill, up to four megapixels.
 */
export function shapeFor(order: ImageOrder, inputs: FluxInputs): Readonly<Record<string, string | number>> {
  const pixels = pixelsOf(order.size);
  if (inputs.shape === "ratio") return pixels === null ? {} : { aspect_ratio: nearestRatio(pixels, RATIOS) };
  const [first] = order.images;
  if (pixels === null) {
    return first !== undefined && isPricedByArea(inputs) ? { ...withinArea(first, MAX_AUTO_PIXELS, GRAIN) } : {};
  }
  return isPricedByArea(inputs) ? { ...pixels } : { ...withinSide(pixels, MAX_FIRST_SIDE, GRAIN) };
}

function isPricedByArea({ maxImagePixels }: FluxInputs): boolean {
  return maxImagePixels !== null;
}

/** Returns the size as `<width>x<height>`; null if the vendor chooses it. */
export function sizeOf({ width, height }: Readonly<Record<string, string | number>>): string | null {
  return width === undefined ? null : `${width}x${height}`;
}

/** Whether an image has more pixels than its price covers. */
export function isTooLarge({ width, height }: ImageSource, { maxImagePixels }: FluxInputs): boolean {
  return maxImagePixels !== null && width * height > maxImagePixels;
}
