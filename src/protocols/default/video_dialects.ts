import type { JsonObject } from "../../lib/json_object.ts";
import type { TaskObject } from "../../videos/tasks/task_object.ts";

/**
 * How a task is written for the client that asks. Official clients of other video APIs check or compare fields that
 * have another form there; everything else is the same, and whoever is no such client gets the task object as it is.
 */
export interface VideoDialect {
  writeTask(task: TaskObject): TaskObject | JsonObject;
  /** The `error` of a refusal. */
  writeError(error: VideoErrorBody, status: number): VideoErrorBody | JsonObject;
  /** Whether a create is answered with the whole task in place of its first fields. */
  readonly createsTasks: boolean;
  /** Whether `DELETE` of a task that has ended removes it. */
  readonly deletesEnded: boolean;
}

/** What every caller reads of a refusal. */
export interface VideoErrorBody {
  readonly code: string;
  readonly message: string;
  /** Of the two routing errors. */
  readonly type?: string;
}

/** For all other clients. Source: docs/api/videos.md#task. */
const DEFAULT: VideoDialect = {
  writeTask: (task) => task,
  writeError: (error) => error,
  createsTasks: false,
  deletesEnded: false,
};

/** OpenAI's libraries wait while a video is `queued` or `in_progress`; all else is an end to them. */
const OPENAI: VideoDialect = { ...DEFAULT, writeTask: openaiVideoOf, createsTasks: true, deletesEnded: true };

/** OpenRouter's library takes a task's error as text alone, and the code of a refusal as the number of its status. */
const OPENROUTER: VideoDialect = {
  ...DEFAULT,
  writeTask: ({ error, ...task }) => error ? { ...task, error: `${error.code}: ${error.message}` } : task,
  writeError: ({ message, ...rest }, status) => ({ code: status, message, metadata: rest }),
};

/** `OpenAI/JS 7.55.0`, `AsyncOpenAI/Python 2.1.0`, `AzureOpenAI/Python`; in browsers only the second header is sent. */
const OPENAI_AGENT = /^(Async)?(Azure)?OpenAI\//;
/** `speakeasy-sdk/typescript 1.3.19 … @openrouter/sdk`, `speakeasy-sdk/python … openrouter`. */
const OPENROUTER_AGENT = /^speakeasy-sdk\/.*\bopenrouter\b/;

/** The dialect of the client that sent these header fields. */
export function dialectOf(headers: Headers): VideoDialect {
  const agent = headers.get("user-agent") ?? "";
  if (OPENAI_AGENT.test(agent) || headers.has("x-stainless-lang")) return OPENAI;
  return OPENROUTER_AGENT.test(agent) ? OPENROUTER : DEFAULT;
}

/** A task as OpenAI's clients type a video. Source: OpenAI API reference, "The video object". */
function openaiVideoOf(task: TaskObject): JsonObject {
  return {
    ...task,
    status: openaiStatusOf(task),
    progress: task.progress ?? 0,
    size: task.size ?? "",
    error: task.error ?? endWithoutVideo(task),
    expires_at: null,
    remixed_from_video_id: null,
  };
}

function openaiStatusOf({ status, provider, queue_position = 0 }: TaskObject): string {
  if (status === "pending") return provider === undefined || queue_position > 0 ? "queued" : "in_progress";
  return status === "completed" ? "completed" : "failed";
}

/** Why a task that is `failed` to OpenAI's clients has no video, where the gateway has a status of its own for that. */
function endWithoutVideo({ status }: TaskObject): TaskObject["error"] | null {
  if (status === "cancelled") return { code: "cancelled", message: "The video was cancelled" };
  return status === "expired" ? { code: "expired", message: "The video was not made in time" } : null;
}
