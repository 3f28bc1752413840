import type { Codec } from "../../codec.ts";
import { checkRequest } from "./caller/check.ts";
import { readError, writeError } from "./shared/error.ts";
import { eventReader } from "./upstream/event_reader.ts";
import { eventWriter } from "./caller/event_writer.ts";
import { readRequest } from "./caller/read_request.ts";
import { readReply, writeReply } from "./shared/reply.ts";
import { readUsage, usageFollower } from "./shared/usage.ts";
import { writeRequest } from "./upstream/write_request.ts";

export { readCount, readCountRequest, writeCount, writeCountRequest } from "./shared/count.ts";
export { refuseDoubleSpellings } from "./caller/double_spellings.ts";
export { needsInlining } from "./shared/parts.ts";
export { readCachedContent } from "./caller/read_request.ts";

/**
 * The content form: `generateContent` and `streamGenerateContent`. Model and streaming are told by the path, so bodies
 * that are read have them put in as `model` and `stream`, and bodies that are written have neither.
 * Source: Gemini API reference, version v1beta.
 */
export const content: Codec = {
  name: "content",
  fieldNames: {
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
  checkRequest,
  readRequest,
  writeRequest,
  readReply,
  writeReply,
  eventReader,
  eventWriter,
  readUsage,
  usageFollower,
  readError,
  writeError,
};
