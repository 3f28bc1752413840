import { MESSAGE_FORMAT } from "../shared/format_name.ts";
import { firstSetField } from "../../../parts/request/cache_conflict.ts";
import type { CallerFormat } from "../../../contract/caller_format.ts";
import { writeError } from "./error.ts";
import { maxRequestedLimit } from "../../../contract/requested_limit.ts";
import { droppedFieldNames } from "../../../contract/dropped_field_names.ts";
import { checkRequest } from "./check.ts";
import { eventWriter } from "./event_writer.ts";
import { grammar } from "./grammar.ts";
import { clampLimit } from "./clamp_limit.ts";
import { DROPPED_FIELD_PATHS } from "./dropped_field_paths.ts";
import { readRequest } from "./read_request.ts";
import { REQUEST_SHAPE } from "./request_shape.ts";
import { refuseUnknownKinds } from "../../../contract/unread_fields.ts";
import { writeReply } from "./write_reply.ts";

/**
 * Settings that a cached content already holds, so that a request may not repeat them.
 * Source: Gemini API reference, "Caching".
 */
const CACHED_SETTINGS = ["system", "tools", "tool_choice"];

/** The caller side of the message protocol. Source: docs/api/messages.md; Messages API reference. */
export const caller: CallerFormat = {
  name: MESSAGE_FORMAT,
  author: "anthropic",
  replyFieldNames: {
    web_search_call: "messages.content.server_tool_use",
    citations: "messages.content.text.citations",
    stop: "stop_sequences",
    user: "metadata.user_id",
    parallel_tool_calls: "tool_choice.disable_parallel_tool_use",
    reasoning: "thinking",
    reasoning_text: "thinking",
    reasoning_signature: "signature",
    output_format: "output_config.format",
    output_schema: "output_config.format.schema",
    tool_strict: "tools.strict",
    tool_schema: "tools.input_schema",
    tool_description: "tools.description",
    custom_tool: "tools",
    tool_call: "tool_use",
    tool_error: "tool_result.is_error",
    tool_result_image: "tool_result.content",
    file: "document",
    file_name: "document.title",
  },
  droppedFields: (body, droppedFields) => droppedFieldNames(body, droppedFields, DROPPED_FIELD_PATHS),
  check: (body) => checkRequest(body),
  refuseUnknownTypes: (body) => refuseUnknownKinds(body, REQUEST_SHAPE),
  read: (body) => readRequest(body),
  writeReply,
  eventWriter,
  writeError,
  heartbeat: { event: "ping", data: '{"type":"ping"}' },
  streamUsagePath: ["usage"],
  wantsUsage: () => true,
  requestedLimit: (body) => maxRequestedLimit(body, ["max_tokens"]),
  clampLimit: clampLimit,
  limitIncludesReasoning: true,
  tierFields: ["service_tier", "speed"],
  servesImageModels: false,
  cacheConflict: (body) => firstSetField(body, CACHED_SETTINGS),
  reportsInvalidCalls: false,
  replay: { signatures: "last", items: false },
  grammar,
};
