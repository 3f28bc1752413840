import type { Codec } from "../../codec.ts";
import { checkRequest } from "./check.ts";
import { readError, writeError } from "./error.ts";
import { eventReader } from "./event_reader.ts";
import { eventWriter } from "./event_writer.ts";
import { readRequest } from "./read_request.ts";
import { readReply, writeReply } from "./reply.ts";
import { readUsage, usageFollower } from "./usage.ts";
import { writeRequest } from "./write_request.ts";

export { readCount, readCountRequest, writeCount, writeCountRequest } from "./count.ts";
export { refuseDoubleSpellings } from "./double_spellings.ts";
export { needsInlining } from "./parts.ts";
export { readCachedContent } from "./read_request.ts";

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
