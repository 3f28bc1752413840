import type { ImageOrder, ImageUpstream } from "./image_upstream.ts";

/** Members of OpenAI's Images API that are sent as they are. Source: OpenAI API reference, "Images". */
export const IMAGE_EXTRAS = ["output_compression", "moderation", "user", "safety_identifier"] as const;

/** The name of one. */
export type ImageExtra = typeof IMAGE_EXTRAS[number];

/** The values of those that the caller set; zero is a value. */
export type ImageExtras = Readonly<Partial<Record<ImageExtra, string | number>>>;

/** An optional field of a request that not every vendor has. */
export type ImageOptionName = ImageExtra | "background" | "output_format" | "input_fidelity" | "partial_images";

/** The optional fields that the caller set and the vendor does not receive, for `X-Service-Dropped`. */
export function droppedOptionsOf(
  { sentOptions, stream, maxPerCall }: Pick<ImageUpstream, "sentOptions" | "stream" | "maxPerCall">,
  order: ImageOrder,
): readonly ImageOptionName[] {
  const sent: readonly ImageOptionName[] = sentOptions?.(order) ?? [];
  const isStreamed = stream !== null && order.count <= maxPerCall;
  return optionsIn(order).filter((name) => name === "partial_images" ? !isStreamed : !sent.includes(name));
}

function optionsIn(order: ImageOrder): readonly ImageOptionName[] {
  const { background, outputFormat, inputFidelity, partialImages, extras } = order;
  return [
    ...(background !== null ? ["background" as const] : []),
    ...(outputFormat !== null ? ["output_format" as const] : []),
    ...(inputFidelity !== null ? ["input_fidelity" as const] : []),
    ...(partialImages > 0 ? ["partial_images" as const] : []),
    ...IMAGE_EXTRAS.filter((name) => extras[name] !== undefined),
  ];
}
