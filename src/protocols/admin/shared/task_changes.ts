import { type Handler, pathParam } from "../../../platform/http/request/inbound.ts";
import { GatewayError } from "../../../platform/lib/basics/gateway_error.ts";
import type { JsonObject } from "../../../platform/lib/json/json_object.ts";
import type { ContentChoice } from "../../../services/videos/results/content.ts";
import type { TaskAdmin, TaskWithHold } from "../../../services/videos/upkeep/task_admin.ts";
import type { Videos } from "../../../services/videos/videos.ts";
import { answerJson } from "./answer.ts";

/** The operations on videos of a running gateway. */
export type RunningVideos = Pick<Videos, "cancel" | "contentOf">;

/** The dependencies of the handlers. */
export interface TaskChangeOptions {
  readonly admin: TaskAdmin;
  /** Null for a gateway that does not run. */
  readonly videos: RunningVideos | null;
  readonly writeTask: (task: TaskWithHold) => JsonObject;
}

/** `POST /admin/v1/tasks/:task/cancel`: the task, cancelled as by its caller. */
export function cancelTaskHandler({ admin, videos, writeTask }: TaskChangeOptions): Handler {
  return async ({ params, request }) => {
    await request.body?.cancel();
    const { task } = await taskIn(admin, pathParam(params, "task"));
    await runningVideos(videos).cancel(task.keyId, task.id);
    return answerJson(writeTask(await taskIn(admin, task.id)));
  };
}

/**
 * `POST /admin/v1/tasks/:task/results`: `{data: [{type, index, url}]}`, the addresses of what the task made, as its
 * caller gets them. Results that are available nowhere are left out.
 */
export function taskResultsHandler({ admin, videos }: TaskChangeOptions): Handler {
  return async ({ params, request }) => {
    await request.body?.cancel();
    const { task } = await taskIn(admin, pathParam(params, "task"));
    const choices: readonly ContentChoice[] = [
      ...task.results.map((_, index) => ({ type: "video", index } as const)),
      ...new Set((task.extras ?? []).map(({ type }) => type)).values().map((type) => ({ type })),
    ];
    const found = await Promise.all(choices.map((choice) => addressOf(choice, task, runningVideos(videos))));
    return answerJson({ data: found.flat() });
  };
}

async function addressOf(
  choice: ContentChoice,
  { keyId, id }: TaskWithHold["task"],
  videos: RunningVideos,
): Promise<JsonObject[]> {
  try {
    const url = await videos.contentOf(keyId, id, choice);
    return [{ type: choice.type, index: choice.type === "video" ? choice.index : 0, url }];
  } catch (error) {
    if (error instanceof GatewayError && error.code === "not_found") return [];
    throw error;
  }
}

async function taskIn(admin: TaskAdmin, id: string): Promise<TaskWithHold> {
  const found = await admin.read(id);
  if (found === null) throw new GatewayError("not_found", "Cannot find the task: no such task");
  return found;
}

function runningVideos(videos: RunningVideos | null): RunningVideos {
  if (videos !== null) return videos;
  throw new GatewayError("conflict", "Cannot do this while the gateway does not run: start it and repeat the request");
}
