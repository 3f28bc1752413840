import type { AttemptTarget } from "../../../vendors/routing/circuit_breaker.ts";
import type { VideoMedia, VideoOrder, VideoUpstream } from "../../../vendors/upstreams/contract/video_upstream.ts";
import type { HeldCreateMemory } from "../create/create_memory.ts";
import { formFor, isPublicBase, mediaFor } from "../request/media_publishing.ts";
import { orderForProvider } from "../request/provider_options.ts";
import type { TaskMedia, TaskOrder, VideoTask } from "../tasks/task.ts";
import { vendorCallbackUrl } from "../polling/vendor_callback.ts";
import type { VideoParts } from "../tasks/video_parts.ts";

/**
 * Returns a task's order for a vendor, with media in forms that the vendor accepts.
 *
 * @param memory Limits the memory of media sent as bytes.
 * @throws {GatewayError} As {@linkcode mediaFor}.
 */
export async function vendorOrderOf(
  parts: VideoParts,
  task: VideoTask,
  target: AttemptTarget,
  { upstream, memory }: { readonly upstream: VideoUpstream; readonly memory: HeldCreateMemory },
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

/** Returns the order without media. It is enough to recognise a task, and its media may be removed by then. */
export function searchOrderOf(task: VideoTask, { provider, model }: AttemptTarget): VideoOrder {
  return {
    ...orderForProvider(orderOf(task), provider),
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

/** Whether a vendor accepts every medium of a task in some form. */
export function canTakeMedia(parts: VideoParts, task: VideoTask, { mediaForms }: VideoUpstream): boolean {
  const { firstFrame, lastFrame, references } = orderOf(task);
  const media = [firstFrame, lastFrame, ...references].filter((each) => each !== null);
  if (media.length === 0) return true;
  const isPublic = isPublicBase(parts);
  return media.every((each) => formFor(each, mediaForms, isPublic) !== null);
}

/** Only terminal tasks have no order, and those are never submitted. */
function orderOf({ id, order }: VideoTask): TaskOrder {
  if (order === null) throw new TypeError(`Cannot read the order of task "${id}": it has ended`);
  return order;
}
