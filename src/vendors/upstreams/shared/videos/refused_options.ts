import type { RefusedOptions } from "../../contract/video_upstream.ts";

/** The reason for an option that changes the price per second. */
export const PRICE_REASON = "it changes the price of the video, which the catalog does not include";

/** The reason for an option that names an image, audio or video. */
export const MEDIA_REASON = 'it is an input of the video; use "frame_images" or "input_references"';

/** The reason for an option that names an object in the operator's account at the vendor. */
export const ACCOUNT_REASON = "it names an object in the operator's vendor account; send data or a URL as a reference";

/** Returns the same reason for each name. */
export function refusedFor(reason: string, names: readonly string[]): RefusedOptions {
  return Object.fromEntries(names.map((name) => [name, reason]));
}
