import { nearestRatio, pixelsOf, withinArea, withinSide } from "../image_size.ts";
import type { ImageOrder, ImageSource } from "../image_upstream.ts";

/** How a family of FLUX models names its inputs. */
export interface FluxInputs {
  /** The field of the first picture; the others have their number behind it. */
  readonly image: string;
  /** The most pictures. */
  readonly maxImages: number;
  /** The most pixels of a picture; the price of one covers no more. Null where each costs the same. */
  readonly maxImagePixels: number | null;
  /** How the shape is named. */
  readonly shape: "pixels" | "ratio";
}

const MEGAPIXEL = 1_048_576;
/** BFL bills pictures that were given by their megapixels; catalogs have one price for each, which covers this many. */
const MAX_PRICED_IMAGE_PIXELS = 4 * MEGAPIXEL;
/** BFL bills pictures that were made by their megapixels, begun ones as whole: the catalog's price covers this many. */
const MAX_AUTO_PIXELS = 2 * MEGAPIXEL;

const FLUX_2: FluxInputs = {
  image: "input_image",
  maxImages: 8,
  maxImagePixels: MAX_PRICED_IMAGE_PIXELS,
  shape: "pixels",
};

/**
 * Families by how their names begin; the first that fits counts. Source: BFL API reference, the inputs of each model.
 */
const FAMILIES: readonly (readonly [prefix: string, inputs: FluxInputs])[] = [
  ["flux-2-klein", { ...FLUX_2, maxImages: 4 }],
  ["flux-kontext", { ...FLUX_2, maxImages: 4, maxImagePixels: null, shape: "ratio" }],
  ["flux-pro-1.1-ultra", { image: "image_prompt", maxImages: 1, maxImagePixels: null, shape: "ratio" }],
  ["flux-pro", { image: "image_prompt", maxImages: 1, maxImagePixels: null, shape: "pixels" }],
  ["flux-dev", { image: "image_prompt", maxImages: 1, maxImagePixels: null, shape: "pixels" }],
];

/** How a model names its inputs; those that are not known are taken for the newest family. */
export function inputsOf(model: string): FluxInputs {
  return FAMILIES.find(([prefix]) => model.startsWith(prefix))?.[1] ?? FLUX_2;
}

const RATIOS = ["21:9", "16:9", "3:2", "4:3", "1:1", "3:4", "2:3", "9:16", "9:21"];
const GRAIN = 32;
/** The longest side of models of the first generation. */
const MAX_FIRST_SIDE = 1_440;

/**
 * The shape of an order. A picture that is changed keeps its own shape, at most {@linkcode MAX_AUTO_PIXELS}, where no
 * size was asked for: left to itself the vendor makes, and bills, up to four megapixels.
 */
export function shapeFor(order: ImageOrder, inputs: FluxInputs): Readonly<Record<string, string | number>> {
  const asked = pixelsOf(order.size);
  if (inputs.shape === "ratio") return asked === null ? {} : { aspect_ratio: nearestRatio(asked, RATIOS) };
  const [first] = order.images;
  if (asked === null) {
    return first !== undefined && isPricedByArea(inputs) ? { ...withinArea(first, MAX_AUTO_PIXELS, GRAIN) } : {};
  }
  return isPricedByArea(inputs) ? { ...asked } : { ...withinSide(asked, MAX_FIRST_SIDE, GRAIN) };
}

function isPricedByArea({ maxImagePixels }: FluxInputs): boolean {
  return maxImagePixels !== null;
}

/** The size as words, `<width>x<height>`; null where the vendor chooses it. */
export function sizeOf({ width, height }: Readonly<Record<string, string | number>>): string | null {
  return width === undefined ? null : `${width}x${height}`;
}

/** Whether a picture is larger than its price covers. */
export function isTooLarge({ width, height }: ImageSource, { maxImagePixels }: FluxInputs): boolean {
  return maxImagePixels !== null && width * height > maxImagePixels;
}
