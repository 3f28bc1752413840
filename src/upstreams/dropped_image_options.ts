import { IMAGE_EXTRAS, type ImageOptionName } from "./image_options.ts";
import type { ImageOrder, ImageUpstream } from "./image_upstream.ts";

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
