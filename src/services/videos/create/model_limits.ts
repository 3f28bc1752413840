import { VIDEO_RATIOS, type VideoSection } from "../../../vendors/catalog/sections/media_sections.ts";
import { invalidField } from "../../../platform/lib/basics/gateway_error.ts";
import { matchingRatio } from "../../../vendors/upstreams/shared/videos/video_shape.ts";
import { videoError } from "../tasks/video_errors.ts";
import type { VideoRequest } from "../request/request.ts";
import type { Medium } from "../../../vendors/video_mode.ts";

/**
 * Rejects an aspect ratio and references that the model does not support, because such a task would fail.
 *
 * @param id Id of the model, for the error message.
 * @throws {GatewayError} `invalid_request` or `too_many_references`, with the supported values.
 */
export function checkModelLimits(request: VideoRequest, video: VideoSection, id: string): void {
  refuseRatio(request, video, id);
  refuseReferences(request, video, id);
}

/** With a first frame, the frame's own aspect ratio applies, or the vendor rejects the request. */
function refuseRatio({ aspectRatio, size, firstFrame }: VideoRequest, video: VideoSection, id: string): void {
  const { aspectRatios } = video;
  if (firstFrame !== null || aspectRatios.length === VIDEO_RATIOS.length) return;
  const expected = `expected one of ${aspectRatios.join(", ")} for "${id}"`;
  if (aspectRatio !== null && !aspectRatios.includes(aspectRatio)) throw invalidField("aspect_ratio", expected);
  if (size !== null && matchingRatio(size.width / size.height, aspectRatios) === null) {
    throw invalidField("size", `expected an aspect ratio of ${aspectRatios.join(", ")} for "${id}"`);
  }
}

function refuseReferences({ references }: VideoRequest, { references: limits }: VideoSection, id: string): void {
  for (const medium of Object.keys(limits) as Medium[]) {
    const count = references.filter((each) => each.medium === medium).length;
    if (count <= limits[medium]) continue;
    throw videoError(
      "too_many_references",
      `Cannot use ${count} references of type ${medium}_url with "${id}": expected at most ${limits[medium]}`,
      "input_references",
    );
  }
}
