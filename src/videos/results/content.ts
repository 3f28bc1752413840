import type { VideoExtra } from "../../upstreams/video_upstream.ts";
import { extraMirrorOf, mirrorOf } from "./mirror_names.ts";
import type { VideoTask } from "../tasks/task.ts";

/** What of a task is asked for. */
export type ContentChoice =
  /** One of the videos, the first being 0. */
  | { readonly type: "video"; readonly index: number }
  | { readonly type: VideoExtra["type"] };

/** Where a content is; neither is set for one that the task does not have. */
export interface ContentPlaces {
  /** The name of the copy, there or on its way. */
  readonly mirror?: string | undefined;
  /** The vendor's address, when it opens without a credential. */
  readonly vendorUrl?: string | undefined;
}

/** Where the chosen content of a task is. */
export function placesOf(task: VideoTask, choice: ContentChoice): ContentPlaces {
  if (choice.type === "video") {
    const result = task.results[choice.index];
    const vendorUrl = (!result?.needsCredential && result?.url) || undefined;
    return { mirror: mirrorOf(task, choice.index), vendorUrl };
  }
  const index = task.extras?.findIndex(({ type }) => type === choice.type) ?? -1;
  return { mirror: extraMirrorOf(task, index), vendorUrl: task.extras?.[index]?.url };
}
