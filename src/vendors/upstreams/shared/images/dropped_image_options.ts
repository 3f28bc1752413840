import { IMAGE_EXTRAS, type ImageOptionName } from "../../contract/image_options.ts";
import { isStreamedOrder } from "./image_limits.ts";
import type { ImageOrder, ImageUpstream } from "../../contract/image_upstream.ts";

/** The optional fields that the caller set and the vendor does not receive, for `X-Service-Dropped`. */
export function droppedOptionsOf(
  upstream: Pick<ImageUpstream, "sentOptions" | "stream" | "maxPerCall" | "singleFormats" | "unstreamedFormats">,
  order: ImageOrder,
): readonly ImageOptionName[] {
  const sent: readonly ImageOptionName[] = upstream.sentOptions?.(order) ?? [];
  const isStreamed = isStreamedOrder(upstream, order);
  return optionsIn(order).filter((name) => name === "partial_images" ? !isStreamed : !sent.includes(name));
}

function optionsIn(order: ImageOrder): readonly ImageOptionName[] {
  const { background, outputFormat, inputFidelity, partialImages, extras, svg } = order;
  return [
    ...(background !== null ? ["background" as const] : []),
    ...(outputFormat !== null ? ["output_format" as const] : []),
    ...(inputFidelity !== null ? ["input_fidelity" as const] : []),
    ...(partialImages > 0 ? ["partial_images" as const] : []),
    ...(svg !== null && (svg.model !== null || svg.effort !== null) ? ["svg" as const] : []),
    ...IMAGE_EXTRAS.filter((name) => extras[name] !== undefined),
  ];
}
