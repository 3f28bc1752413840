import type { RefusedOptions } from "./video_upstream.ts";

/** The reason for an option that changes the price per second. */
export const UNPRICED_OPTION = "it changes what the video costs, which the model's price does not tell";

/** The reason for an option that names an image, audio or video. */
export const MEDIA_OPTION = 'it is what the video is made from; use "frame_images" or "input_references"';

/** The reason for an option that names an object in the operator's account at the vendor. */
export const ACCOUNT_OPTION =
  "it names something at the operator's vendor account; send data or a web address as a reference";

/** Returns the same reason for each name. */
export function refusals(why: string, names: readonly string[]): RefusedOptions {
  return Object.fromEntries(names.map((name) => [name, why]));
}
