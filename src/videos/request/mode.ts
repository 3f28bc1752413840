import type { Medium, VideoMode } from "../../lib/video_mode.ts";

/**
 * How a video is made, as it follows from what was sent. Source: docs/api/videos.md#modes. References that are all
 * images are `imgref2video`; any audio or video among them makes `mixref2video`.
 *
 * @param lastFrame Only ever true beside a first frame.
 */
export function modeOf(firstFrame: boolean, lastFrame: boolean, references: readonly Medium[]): VideoMode {
  if (firstFrame) return lastFrame ? "img2video_end" : "img2video";
  if (references.length === 0) return "text2video";
  return references.every((medium) => medium === "image") ? "imgref2video" : "mixref2video";
}
