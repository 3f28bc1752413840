import table from "./image_endpoints.json" with { type: "json" };

/** The input fields of an image model on fal. The model does not support an absent field. */
export interface FalImageInputs {
  /** The field of a single image. */
  readonly image?: string;
  /** The field of a list of images. */
  readonly images?: string;
  /** True for a model that requires an input image. */
  readonly needsImage?: boolean;
  /** Whether `image_size` is width and height. */
  readonly takesPixels?: boolean;
  /** The values of `image_size`, if it is an enumeration. */
  readonly sizes?: readonly string[];
  /** The values of `aspect_ratio`. */
  readonly ratios?: readonly string[];
  /** The values of `output_format`. */
  readonly formats?: readonly string[];
  /** The values of `quality`. */
  readonly qualities?: readonly string[];
  /** The values of `background`. */
  readonly backgrounds?: readonly string[];
  /** Whether it can create several images, so that the count must be sent as one. */
  readonly takesCount?: boolean;
}

/** Read from the vendor's own client: see `deno task fal-endpoints`. */
const KNOWN = new Map(
  (table as readonly { readonly inputs: FalImageInputs; readonly addresses: readonly string[] }[])
    .flatMap(({ inputs, addresses }) => addresses.map((address) => [address, inputs] as const)),
);

/** The fields of most models, for models without a description. */
const COMMON: FalImageInputs = { image: "image_url", images: "image_urls", takesPixels: true };

/** The path suffixes of a model by the inputs, preferred first. */
const PATH_SUFFIXES = {
  noImage: ["", "/text-to-image"],
  oneImage: ["/edit", "/edit-image", "", "/image-to-image"],
  severalImages: ["/edit", "/edit-image", "/multi", "", "/image-to-image"],
} as const;

/** A model's path on fal and its input fields. */
export interface FalImageEndpoint {
  /** Below the base URL, without a leading slash. */
  readonly path: string;
  readonly inputs: FalImageInputs;
}

/**
 * Returns the endpoint for images. A model name contains no path suffix; the request decides it. An unknown model name
 * is used as the path.
 *
 * @param model The vendor's name of the model.
 * @param imageCount The number of input images.
 * @returns Null if the model does not support that many, or requires an input image.
 */
export function imageEndpointFor(model: string, imageCount: number): FalImageEndpoint | null {
  const paths = PATH_SUFFIXES[imageCount === 0 ? "noImage" : imageCount === 1 ? "oneImage" : "severalImages"].map((
    suffix,
  ) => model + suffix);
  const path = paths.find((each) => isSupported(KNOWN.get(each), imageCount));
  if (path !== undefined) return { path, inputs: KNOWN.get(path)! };
  const isKnown = [...PATH_SUFFIXES.noImage, ...PATH_SUFFIXES.severalImages].some((suffix) =>
    KNOWN.has(model + suffix)
  );
  return isKnown ? null : { path: model, inputs: COMMON };
}

function isSupported(inputs: FalImageInputs | undefined, imageCount: number): boolean {
  if (inputs === undefined) return false;
  if (imageCount === 0) return !inputs.needsImage;
  return inputs.images !== undefined || (inputs.image !== undefined && imageCount === 1);
}
