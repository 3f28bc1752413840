import { firstSetField } from "../../../parts/request/cache_conflict.ts";
import type { CallerFormat } from "../../../contract/caller_format.ts";
import { SERVED_MODELS } from "./served_models.ts";
import { writeError } from "./error.ts";
import { maxRequestedLimit } from "../../../contract/requested_limit.ts";
import { droppedFieldNames } from "../../../contract/dropped_field_names.ts";
import { checkRequest } from "./check.ts";
import { eventWriter } from "./event_writer.ts";
import { grammar } from "./grammar.ts";
import { clampLimit } from "./clamp_limit.ts";
import { DROPPED_FIELD_PATHS } from "./dropped_field_paths.ts";
import { readRequest } from "./read_request.ts";
import { refuseUnknownTypes } from "./request_shape.ts";
import { writeReply } from "./write_reply.ts";

/**
 * Settings that a cached content already holds, so that a request may not repeat them.
 * Source: Gemini API reference, "Caching".
 */
const CACHED_SETTINGS = ["systemInstruction", "system_instruction", "tools", "toolConfig", "tool_config"];

/** The output limit, in all combinations of spellings. */
const LIMIT_FIELDS = ["generationConfig", "generation_config"].flatMap((config) => [
  `${config}.maxOutputTokens`,
  `${config}.max_output_tokens`,
]);

/**
 * The caller side of `generateContent` and `streamGenerateContent`. The path names the model and whether to stream, so
 * these are added to the body as `model` and `stream` before it is read. Source: Gemini API reference, version v1beta.
 */
export const caller: CallerFormat = {
  name: "content",
  author: "google",
  replyFieldNames: {
    temperature: "generationConfig.temperature",
    top_p: "generationConfig.topP",
    top_k: "generationConfig.topK",
    presence_penalty: "generationConfig.presencePenalty",
    frequency_penalty: "generationConfig.frequencyPenalty",
    seed: "generationConfig.seed",
    stop: "generationConfig.stopSequences",
    max_tokens: "generationConfig.maxOutputTokens",
    reasoning: "generationConfig.thinkingConfig",
    output_format: "generationConfig.responseSchema",
    output_schema: "generationConfig.responseSchema",
    image_detail: "generationConfig.mediaResolution",
    tool_choice: "toolConfig.functionCallingConfig",
    tool_schema: "tools.functionDeclarations.parameters",
    tool_strict: "toolConfig.functionCallingConfig.mode",
    tool_description: "tools.functionDeclarations.description",
    tool_result_image: "contents.parts.functionResponse.parts",
    tool_error: "contents.parts.functionResponse.response.error",
    image: "contents.parts.inlineData",
    audio: "contents.parts.inlineData",
    video: "contents.parts.inlineData",
    file: "contents.parts.inlineData",
    file_name: "contents.parts.inlineData.displayName",
    reasoning_text: "contents.parts.thought",
    reasoning_signature: "contents.parts.thoughtSignature",
    citations: "candidates.groundingMetadata",
  },
  droppedFields: (body, droppedFields) => droppedFieldNames(body, droppedFields, DROPPED_FIELD_PATHS, true),
  check: checkRequest,
  refuseUnknownTypes,
  read: readRequest,
  writeReply,
  eventWriter,
  writeError,
  heartbeat: null,
  streamUsagePath: ["usageMetadata"],
  wantsUsage: () => true,
  requestedLimit: (body) => maxRequestedLimit(body, LIMIT_FIELDS),
  clampLimit: clampLimit,
  limitIncludesReasoning: false,
  tierFields: ["serviceTier", "service_tier"],
  ...SERVED_MODELS,
  cacheConflict: (body) => firstSetField(body, CACHED_SETTINGS),
  reportsInvalidCalls: true,
  replay: { signatures: "none", items: false },
  grammar,
};
