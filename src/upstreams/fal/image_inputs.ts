import table from "./image_endpoints.json" with { type: "json" };

/** What a model of fal that makes pictures calls its inputs; what is missing it does not take. */
export interface FalImageInputs {
  /** The field of one picture. */
  readonly image?: string;
  /** The list of several. */
  readonly images?: string;
  /** True for a model that makes nothing from words alone. */
  readonly needsImage?: boolean;
  /** Whether `image_size` is width and height. */
  readonly takesPixels?: boolean;
  /** The sizes that `image_size` lists, where it takes no others. */
  readonly sizes?: readonly string[];
  /** What `aspect_ratio` lists. */
  readonly ratios?: readonly string[];
  /** What `output_format` lists. */
  readonly formats?: readonly string[];
  /** What `quality` lists. */
  readonly qualities?: readonly string[];
  /** What `background` lists. */
  readonly backgrounds?: readonly string[];
  /** Whether it can make several pictures, so that one is asked for. */
  readonly takesCount?: boolean;
}

/** Read from the vendor's own client: see `deno task fal-endpoints`. */
const KNOWN = new Map(
  (table as readonly { readonly inputs: FalImageInputs; readonly addresses: readonly string[] }[])
    .flatMap(({ inputs, addresses }) => addresses.map((address) => [address, inputs] as const)),
);

/** What most models have in common, for one that nobody has described. */
const COMMON: FalImageInputs = { image: "image_url", images: "image_urls", takesPixels: true };

/** What stands behind a model's name, the better one first, by what is given. */
const VERBS = {
  words: ["", "/text-to-image"],
  picture: ["/edit", "/edit-image", "", "/image-to-image"],
  pictures: ["/edit", "/edit-image", "/multi", "", "/image-to-image"],
} as const;

/** A model's address on fal, and the names of its inputs there. */
export interface FalImageEndpoint {
  /** Below the base address, without a slash before it. */
  readonly path: string;
  readonly inputs: FalImageInputs;
}

/**
 * Where a model makes pictures. A model is named without its verb, which the order gives; one that nobody has described
 * is an address by itself.
 *
 * @param model The vendor's name of the model.
 * @param given How many pictures it is given.
 * @returns Null when the model does not take so many, or makes nothing from words alone.
 */
export function imageEndpointFor(model: string, given: number): FalImageEndpoint | null {
  const paths = VERBS[given === 0 ? "words" : given === 1 ? "picture" : "pictures"].map((verb) => model + verb);
  const path = paths.find((each) => takes(KNOWN.get(each), given));
  if (path !== undefined) return { path, inputs: KNOWN.get(path)! };
  const isKnown = [...VERBS.words, ...VERBS.pictures].some((verb) => KNOWN.has(model + verb));
  return isKnown ? null : { path: model, inputs: COMMON };
}

function takes(inputs: FalImageInputs | undefined, given: number): boolean {
  if (inputs === undefined) return false;
  if (given === 0) return !inputs.needsImage;
  return inputs.images !== undefined || (inputs.image !== undefined && given === 1);
}
