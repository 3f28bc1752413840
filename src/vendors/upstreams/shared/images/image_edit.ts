import type { ImageUpstream } from "../../contract/image_upstream.ts";
import type { Outbound } from "../../call/outbound_call.ts";

/**
 * Creates the edit function for vendors that do not distinguish reference images from images to edit and support no
 * mask.
 *
 * @param make Creates an image from a prompt and images.
 */
export function editWithoutMask(outbound: Outbound, generate: ImageUpstream["generate"]): ImageUpstream["generate"] {
  return async (order, call) => {
    if (order.mask === null) return await generate(order, call);
    throw outbound.failure("invalid", "Masks are not supported by this model", { field: "mask" });
  };
}
