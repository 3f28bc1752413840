import type { AttemptTarget } from "../../routing/circuit_breaker.ts";
import type { VideoMedia, VideoOrder, VideoUpstream } from "../../upstreams/video_upstream.ts";
import type { CreateLease } from "../create/create_memory.ts";
import { formFor, isPublicBase, mediaFor } from "./media_publishing.ts";
import { orderAt } from "../request/provider_options.ts";
import type { TaskMedia, TaskOrder, VideoTask } from "../tasks/task.ts";
import { vendorCallbackUrl } from "../polling/vendor_callback.ts";
import type { VideoParts } from "../video_parts.ts";

/**
 * A task's order in a vendor's words, with the media in forms that the vendor takes.
 *
 * @param memory Pays for media that are sent as bytes.
 * @throws {GatewayError} As {@linkcode mediaFor}.
 */
export async function vendorOrderOf(
  parts: VideoParts,
  task: VideoTask,
  target: AttemptTarget,
  { upstream, memory }: { readonly upstream: VideoUpstream; readonly memory: CreateLease },
): Promise<VideoOrder> {
  const { firstFrame, lastFrame, references } = orderOf(task);
  const write = (media: TaskMedia): Promise<VideoMedia> => mediaFor(parts, media, upstream.mediaForms, memory);
  return {
    ...searchOrderOf(task, target),
    callbackUrl: vendorCallbackUrl(parts, task.id),
    firstFrame: firstFrame && await write(firstFrame),
    lastFrame: lastFrame && await write(lastFrame),
    references: await Promise.all(references.map(write)),
  };
}

/** The order without its media: enough to recognise a task by, when the media may be gone. */
export function searchOrderOf(task: VideoTask, { provider, model }: AttemptTarget): VideoOrder {
  return {
    ...orderAt(orderOf(task), provider),
    taskId: task.id,
    model,
    mode: task.mode,
    prompt: task.prompt,
    callbackUrl: null,
    firstFrame: null,
    lastFrame: null,
    references: [],
  };
}

/** Whether a vendor takes every medium of a task in some form. */
export function canTakeMedia(parts: VideoParts, task: VideoTask, { mediaForms }: VideoUpstream): boolean {
  const { firstFrame, lastFrame, references } = orderOf(task);
  const media = [firstFrame, lastFrame, ...references].filter((each) => each !== null);
  if (media.length === 0) return true;
  const isPublic = isPublicBase(parts);
  return media.every((each) => formFor(each, mediaForms, isPublic) !== null);
}

/** Only terminal tasks have none, and those go to no vendor. */
function orderOf({ id, order }: VideoTask): TaskOrder {
  if (order === null) throw new TypeError(`Cannot read the order of task "${id}": it has ended`);
  return order;
}
