import type { Medium, VideoMode } from "../../../vendors/video_mode.ts";

/**
 * Returns the mode that the sent media imply. References with images only mean `imgref2video`; with audio or video,
 * `mixref2video`. Source: docs/api/videos.md#modes.
 *
 * @param lastFrame True only together with a first frame.
 */
export function modeOf(firstFrame: boolean, lastFrame: boolean, references: readonly Medium[]): VideoMode {
  if (firstFrame) return lastFrame ? "img2video_end" : "img2video";
  if (references.length === 0) return "text2video";
  return references.every((medium) => medium === "image") ? "imgref2video" : "mixref2video";
}
