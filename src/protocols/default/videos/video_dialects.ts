import type { JsonObject } from "../../../platform/lib/json/json_object.ts";
import type { TaskObject } from "../../../services/videos/tasks/task_object.ts";

/**
 * How a task is rendered for a client. Official clients of other video APIs check or compare fields that have another
 * format there. Everything else is the same, and all other clients receive the task object unchanged.
 */
export interface VideoDialect {
  writeTask(task: TaskObject): TaskObject | JsonObject;
  /** Renders the `error` of an error response. */
  writeError(error: VideoErrorBody, status: number): VideoErrorBody | JsonObject;
  /** Whether a create returns the whole task instead of its first fields. */
  readonly createsTasks: boolean;
  /** Whether `DELETE` removes a task that has ended. */
  readonly deletesEnded: boolean;
}

/** The error body for all callers. */
export interface VideoErrorBody {
  readonly code: string;
  readonly message: string;
  /** Only for the two routing errors. */
  readonly type?: string;
}

/** For all other clients. Source: docs/api/videos.md#task. */
const DEFAULT: VideoDialect = {
  writeTask: (task) => task,
  writeError: (error) => error,
  createsTasks: false,
  deletesEnded: false,
};

/** OpenAI's libraries wait while a video is `queued` or `in_progress`. Any other status is final for them. */
const OPENAI: VideoDialect = { ...DEFAULT, writeTask: openaiVideoOf, createsTasks: true, deletesEnded: true };

/** OpenRouter's library accepts a task's error as text only, and the code of an error response as its HTTP status. */
const OPENROUTER: VideoDialect = {
  ...DEFAULT,
  writeTask: ({ error, ...task }) => error ? { ...task, error: `${error.code}: ${error.message}` } : task,
  writeError: ({ message, ...rest }, status) => ({ code: status, message, metadata: rest }),
};

/** `OpenAI/JS 7.55.0`, `AsyncOpenAI/Python 2.1.0`, `AzureOpenAI/Python`; browsers send only the second header. */
const OPENAI_AGENT = /^(Async)?(Azure)?OpenAI\//;
/** `speakeasy-sdk/typescript 1.3.19 … @openrouter/sdk`, `speakeasy-sdk/python … openrouter`. */
const OPENROUTER_AGENT = /^speakeasy-sdk\/.*\bopenrouter\b/;

/** The dialects that differ from that of all other clients, by their names in stored records. */
const NAMED: ReadonlyMap<string, VideoDialect> = new Map([["openai", OPENAI], ["openrouter", OPENROUTER]]);

/** The dialect of the client that sent these headers. */
export function dialectOf(headers: Headers): VideoDialect {
  return dialectNamed(dialectNameOf(headers));
}

/** The name of the dialect of the client that sent these headers; undefined for that of all other clients. */
export function dialectNameOf(headers: Headers): string | undefined {
  const agent = headers.get("user-agent") ?? "";
  if (OPENAI_AGENT.test(agent) || headers.has("x-stainless-lang")) return "openai";
  return OPENROUTER_AGENT.test(agent) ? "openrouter" : undefined;
}

/** The dialect of a name; that of all other clients for none. */
export function dialectNamed(name: string | undefined): VideoDialect {
  return NAMED.get(name ?? "") ?? DEFAULT;
}

/** A task in the type of OpenAI's clients. Source: OpenAI API reference, "The video object". */
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

/** Why a task that is `failed` for OpenAI's clients has no video, if the gateway has a separate status for it. */
function endWithoutVideo({ status }: TaskObject): TaskObject["error"] | null {
  if (status === "cancelled") return { code: "cancelled", message: "The video was cancelled" };
  return status === "expired" ? { code: "expired", message: "The video timed out" } : null;
}
