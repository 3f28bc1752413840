import type { ImageUpstream } from "./image_upstream.ts";
import type { Outbound } from "./outbound_call.ts";

/**
 * How pictures are changed where a picture to look at and one to change are the same to the vendor, which takes no
 * mask.
 *
 * @param make Makes a picture from words and pictures.
 */
export function editWithoutMask(outbound: Outbound, make: ImageUpstream["generate"]): ImageUpstream["generate"] {
  return async (order, call) => {
    if (order.mask === null) return await make(order, call);
    throw outbound.failure("invalid", "Cannot edit with a mask: the model takes none", { field: "mask" });
  };
}
