import type { ImageOrder, ImageUpstream } from "../../contract/image_upstream.ts";

/** The limits of a vendor, and what of an order they depend on. */
type Limits = Pick<ImageUpstream, "maxPerCall" | "singleFormats">;
type Ordered = Pick<ImageOrder, "outputFormat">;

/** The maximum number of images of one request to a vendor. */
export function maxPerCallFor({ maxPerCall, singleFormats = [] }: Limits, { outputFormat }: Ordered): number {
  return outputFormat !== null && singleFormats.includes(outputFormat) ? 1 : maxPerCall;
}

/** Whether a vendor streams an order: all of it is one request, in a file type that is streamed. */
export function isStreamedOrder(
  upstream: Limits & Pick<ImageUpstream, "stream" | "unstreamedFormats">,
  order: Ordered & Pick<ImageOrder, "count">,
): boolean {
  const { stream, unstreamedFormats = [] } = upstream;
  if (stream === null || order.count > maxPerCallFor(upstream, order)) return false;
  return order.outputFormat === null || !unstreamedFormats.includes(order.outputFormat);
}
