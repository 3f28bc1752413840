import type { JsonObject } from "../../../../platform/lib/json/json_object.ts";
import type { VideoMedia, VideoOrder } from "../../contract/video_upstream.ts";

/**
 * Returns the `content` list of Ark, which MiniMax uses too, with prompt, frames and references. Each media is an
 * object with its role. Source: Ark API reference, "Create a video generation task".
 */
export function contentPartsOf(order: VideoOrder): JsonObject[] {
  const { firstFrame, lastFrame, references } = order;
  return [
    { type: "text", text: order.prompt },
    ...(firstFrame ? [partOf(firstFrame, "first_frame")] : []),
    ...(lastFrame ? [partOf(lastFrame, "last_frame")] : []),
    ...references.map((media) => partOf(media, `reference_${media.medium}`)),
  ];
}

function partOf({ medium, value }: VideoMedia, role: string): JsonObject {
  const type = `${medium}_url`;
  return { type, [type]: { url: value }, role };
}
