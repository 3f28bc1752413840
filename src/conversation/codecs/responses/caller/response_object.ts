import type { ReplyContext } from "../../../contract/caller_format.ts";
import type { JsonObject } from "../../../../platform/lib/json/json_object.ts";
import { failureOfStop } from "../../../parts/reply/failed_reply.ts";
import { objectSchema } from "../../../schemas/object_schema.ts";
import type { SchemaDialect } from "../../../schemas/schema_dialect.ts";
import type { Conversation } from "../../../neutral/conversation.ts";
import type { Stop } from "../../../neutral/reply.ts";
import { callerNameOf, writeTool, writeToolChoice } from "../shared/tools.ts";
import { writeFormat } from "../upstream/write_request.ts";

/** Tools are repeated as the caller sent them, whatever the vendor accepts of their schemas. */
const AS_SENT: SchemaDialect = {
  parameters: (parameters, isStrict) => ({ schema: objectSchema(parameters), isStrict, isChanged: false }),
  output: (schema, isStrict) => ({ schema, isStrict, isChanged: false }),
};

/** The end of a reply: status and reason. */
export interface Ending {
  readonly status: "completed" | "incomplete" | "failed";
  readonly incomplete_details: { readonly reason: string } | null;
  readonly error: JsonObject | null;
}

/** The end of a complete reply. */
const COMPLETED: Ending = { status: "completed", incomplete_details: null, error: null };

/** The end for a stop. Source: Responses API reference, "Response", `status` and `incomplete_details`. */
export function endingOf(stop: Stop): Ending {
  switch (stop.reason) {
    case "max_tokens":
    case "context_full":
      return { status: "incomplete", incomplete_details: { reason: "max_output_tokens" }, error: null };
    case "content_filter":
      return { status: "incomplete", incomplete_details: { reason: "content_filter" }, error: null };
    case "prompt_blocked":
      return failure("invalid_prompt", stop.explanation ?? "The provider blocked the prompt");
    case "bad_tool_call":
      return failure("server_error", failureOfStop(stop)?.message ?? "The model produced an invalid tool call");
    default:
      return COMPLETED;
  }
}

function failure(code: string, message: string): Ending {
  return { status: "failed", incomplete_details: null, error: { code, message, type: "server_error" } };
}

/**
 * The fields of a response object that repeat the request, with the format's defaults where the request set nothing.
 * Includes all fields that the open specification requires, because its clients check for them.
 * Sources: Responses API reference, "Response"; Open Responses specification, "ResponseResource".
 */
export function settingsOf({ conversation }: ReplyContext): JsonObject {
  return {
    background: false,
    frequency_penalty: conversation?.sampling.frequencyPenalty ?? 0,
    instructions: conversation ? conversation.instructions.map((part) => part.text).join("\n\n") || null : null,
    max_output_tokens: conversation?.maxOutputTokens ?? null,
    max_tool_calls: conversation?.webSearch?.maxUses ?? null,
    metadata: {},
    parallel_tool_calls: conversation?.parallelToolCalls ?? true,
    presence_penalty: conversation?.sampling.presencePenalty ?? 0,
    previous_response_id: null,
    prompt_cache_key: conversation?.cacheKey ?? null,
    reasoning: {
      effort: conversation?.reasoning?.effort ?? null,
      summary: conversation?.reasoning?.visible ? "auto" : null,
    },
    safety_identifier: conversation?.user ?? null,
    service_tier: "default",
    store: false,
    temperature: conversation?.sampling.temperature ?? 1,
    text: textOf(conversation),
    ...toolsOf(conversation),
    top_logprobs: conversation?.logprobs ?? 0,
    top_p: conversation?.sampling.topP ?? 1,
    truncation: "disabled",
    user: null,
  };
}

function textOf(conversation: Conversation | null): JsonObject {
  const format = conversation?.outputFormat;
  return {
    format: format ? describedFormat(writeFormat(format, AS_SENT, new Set())) : { type: "text" },
    ...(conversation?.verbosity ? { verbosity: conversation.verbosity } : {}),
  };
}

function toolsOf(conversation: Conversation | null): JsonObject {
  const tools = conversation?.tools ?? [];
  const nameOf = (tool: string) => callerNameOf(tool).name;
  const own = tools.map((tool) => described(writeTool(tool, nameOf(tool.name), AS_SENT, new Set())));
  const search = conversation?.webSearch?.sent.format === "responses" ? conversation.webSearch : null;
  return {
    tools: search === null ? own : [...own, search.sent.tool],
    tool_choice: search?.isForced
      ? { type: search.sent.tool.type }
      : conversation?.toolChoice
      ? writeToolChoice(conversation.toolChoice, tools, nameOf)
      : "auto",
  };
}

/** A tool with `description: null` if it has no description. */
function described(tool: JsonObject): JsonObject {
  const { type, name, description = null, ...rest } = tool;
  return type === "function" ? { type, name, description, ...rest } : tool;
}

function describedFormat(format: JsonObject): JsonObject {
  return format.type === "json_schema" ? { description: null, strict: false, ...format } : format;
}

/** The fields of a response object that change while it is generated. */
export interface Progress {
  readonly id: string;
  /** Unix seconds. */
  readonly createdAt: number;
  readonly model: string;
  readonly output: readonly JsonObject[];
  /** Null until the end. */
  readonly usage: JsonObject | null;
}

/** The changing fields of a response object; the others are those of {@linkcode settingsOf}. */
export function progressFields(progress: Progress, ending: Ending | null): JsonObject {
  return {
    id: progress.id,
    object: "response",
    created_at: progress.createdAt,
    // The format has no clock, so a complete reply gets its creation time.
    completed_at: ending?.status === "completed" ? progress.createdAt : null,
    status: ending?.status ?? "in_progress",
    error: ending?.error ?? null,
    incomplete_details: ending?.incomplete_details ?? null,
    model: progress.model,
    output: progress.output,
    usage: progress.usage,
  };
}
