import { firstInstruction, firstSetField } from "../../../parts/request/cache_conflict.ts";
import type { CallerFormat } from "../../../contract/caller_format.ts";
import { writeDefaultError } from "../../../parts/reply/default_error.ts";
import { clampedTopLevelLimits } from "../../../contract/clamped_limit.ts";
import { maxRequestedLimit } from "../../../contract/requested_limit.ts";
import { wantsUsage } from "../shared/wants_usage.ts";
import { droppedFieldNames } from "../../../contract/dropped_field_names.ts";
import { checkRequest } from "./check.ts";
import { eventWriter } from "./event_writer.ts";
import { grammar } from "./grammar.ts";
import { DROPPED_FIELD_PATHS } from "./dropped_field_paths.ts";
import { readRequest } from "./read_request.ts";
import { REQUEST_SHAPE } from "./request_shape.ts";
import { refuseUnknownKinds } from "../../../contract/unread_fields.ts";
import { writeReply } from "./write_reply.ts";

/**
 * Settings that a cached content already holds, so that a request may not repeat them.
 * Source: Gemini API reference, "Caching".
 */
const CACHED_SETTINGS = ["tools", "tool_choice", "functions", "function_call"];

/** The caller side of chat completions. Source: Chat Completions reference. */
export const caller: CallerFormat = {
  name: "chat",
  author: "openai",
  replyFieldNames: {
    max_tokens: "max_completion_tokens",
    reasoning: "reasoning_effort",
    reasoning_text: "reasoning_content",
    reasoning_signature: "reasoning_details",
    output_format: "response_format",
    output_schema: "response_format.json_schema.schema",
    output_strict: "response_format.json_schema.strict",
    tool_schema: "tools.function.parameters",
    tool_strict: "tools.function.strict",
    tool_description: "tools.function.description",
    custom_tool: "tools.custom",
    image: "image_url",
    image_detail: "image_url.detail",
    tool_result_image: "messages.content.image_url",
    audio: "input_audio",
    video: "video_url",
    file_name: "file.filename",
    citations: "annotations",
  },
  droppedFields: (body, droppedFields) => droppedFieldNames(body, droppedFields, DROPPED_FIELD_PATHS),
  check: checkRequest,
  refuseUnknownTypes: (body) => refuseUnknownKinds(body, REQUEST_SHAPE),
  read: readRequest,
  writeReply,
  eventWriter,
  writeError: writeDefaultError,
  heartbeat: "comment",
  streamUsagePath: ["usage"],
  wantsUsage,
  requestedLimit: (body) => maxRequestedLimit(body, ["max_completion_tokens", "max_tokens"]),
  clampLimit: (body, most) => clampedTopLevelLimits(body, ["max_completion_tokens", "max_tokens"], most),
  limitIncludesReasoning: false,
  tierFields: ["service_tier"],
  servesImageModels: false,
  cacheConflict: (body) => firstSetField(body, CACHED_SETTINGS) ?? firstInstruction(body, "messages"),
  reportsInvalidCalls: false,
  replay: { signatures: "all", items: false },
  grammar,
};
