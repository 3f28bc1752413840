import { firstInstruction, firstSetField } from "../../../parts/request/cache_conflict.ts";
import type { CallerFormat } from "../../../contract/caller_format.ts";
import { writeDefaultError } from "../../../parts/reply/default_error.ts";
import { clampedTopLevelLimits } from "../../../contract/clamped_limit.ts";
import { maxRequestedLimit } from "../../../contract/requested_limit.ts";
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
const CACHED_SETTINGS = ["instructions", "tools", "tool_choice"];

/** The caller side of `POST /v1/responses`. Source: Responses API reference. */
export const caller: CallerFormat = {
  name: "responses",
  author: "openai",
  replyFieldNames: {
    web_search_call: "input.web_search_call",
    max_tokens: "max_output_tokens",
    output_format: "text.format",
    output_schema: "text.format.schema",
    output_strict: "text.format.strict",
    verbosity: "text.verbosity",
    user: "safety_identifier",
    cache_control: "prompt_cache_breakpoint",
    reasoning_text: "reasoning.summary",
    reasoning_signature: "reasoning.encrypted_content",
    tool_strict: "tools.strict",
    tool_schema: "tools.parameters",
    tool_description: "tools.description",
    custom_tool: "tools.custom",
    image: "input_image",
    image_detail: "input_image.detail",
    audio: "input_audio",
    file: "input_file",
    file_name: "input_file.filename",
    tool_result_image: "function_call_output.output",
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
  streamUsagePath: ["response", "usage"],
  wantsUsage: () => true,
  requestedLimit: (body) => maxRequestedLimit(body, ["max_output_tokens"]),
  clampLimit: (body, most) => clampedTopLevelLimits(body, ["max_output_tokens"], most),
  limitIncludesReasoning: false,
  tierFields: ["service_tier"],
  servesImageModels: false,
  cacheConflict: (body) => firstSetField(body, CACHED_SETTINGS) ?? firstInstruction(body, "input"),
  reportsInvalidCalls: true,
  replay: { signatures: "last", items: true },
  grammar,
};
