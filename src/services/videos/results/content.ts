import type { VideoExtra } from "../../../vendors/upstreams/contract/video_upstream.ts";
import { extraMirrorOf, mirrorOf } from "../tasks/mirror_names.ts";
import type { VideoTask } from "../tasks/task.ts";

/** Selects one content of a task. */
export type ContentChoice =
  /** One of the videos, from 0. */
  | { readonly type: "video"; readonly index: number }
  | { readonly type: VideoExtra["type"] };

/** Where a content is available; neither field is set if the task does not have it. */
export interface ContentLocations {
  /** Name of the copy, which may not exist yet. */
  readonly mirror?: string | undefined;
  /** The vendor's address, if it needs no credential. */
  readonly vendorUrl?: string | undefined;
}

/** Returns where the selected content of a task is available. */
export function locationsOf(task: VideoTask, choice: ContentChoice): ContentLocations {
  if (choice.type === "video") {
    const result = task.results[choice.index];
    const vendorUrl = (!result?.needsCredential && result?.url) || undefined;
    return { mirror: mirrorOf(task, choice.index), vendorUrl };
  }
  const index = task.extras?.findIndex(({ type }) => type === choice.type) ?? -1;
  return { mirror: extraMirrorOf(task, index), vendorUrl: task.extras?.[index]?.url };
}
