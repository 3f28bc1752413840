import type { RefusedOptions } from "./video_upstream.ts";

/** Against an option that the price of a second does not know. */
export const UNPRICED_OPTION = "it changes what the video costs, which the model's price does not tell";

/** Against an option that names a picture, sound or video. */
export const MEDIA_OPTION = 'it is what the video is made from; use "frame_images" or "input_references"';

/** Against an option that names something that the operator's account at the vendor keeps. */
export const ACCOUNT_OPTION =
  "it names something at the operator's vendor account; send data or a web address as a reference";

/** The same reason against each of the names. */
export function refusals(why: string, names: readonly string[]): RefusedOptions {
  return Object.fromEntries(names.map((name) => [name, why]));
}
