import type { VideoExtra } from "../upstreams/video_upstream.ts";
import type { VideoTask } from "./task.ts";

/** What of a task is asked for. */
export type ContentChoice =
  /** One of the videos, the first being 0. */
  | { readonly type: "video"; readonly index: number }
  | { readonly type: VideoExtra["type"] };

/** Where a content is; neither is set for one that the task does not have. */
export interface ContentPlaces {
  /** The name of the copy, there or on its way. */
  readonly mirror?: string;
  /** The vendor's address, when it opens without a credential. */
  readonly vendorUrl?: string;
}

/** Where the chosen content of a task is. */
export function placesOf(
  { results, mirrors, extras = [], extraMirrors = [] }: VideoTask,
  choice: ContentChoice,
): ContentPlaces {
  if (choice.type === "video") {
    const result = results[choice.index];
    return { mirror: mirrors[choice.index], vendorUrl: (!result?.needsCredential && result?.url) || undefined };
  }
  const index = extras.findIndex(({ type }) => type === choice.type);
  return { mirror: extraMirrors[index], vendorUrl: extras[index]?.url };
}
