import type { DroppedFieldPaths } from "../../../contract/dropped_field_names.ts";

const BYTES = ["contents.parts.inlineData", "contents.parts.fileData"];
const RESULT_BYTES = [
  "contents.parts.functionResponse.parts.inlineData",
  "contents.parts.functionResponse.parts.fileData",
];

/** Paths in a content request of fields that may be dropped, by their neutral names; in camel case. */
export const DROPPED_FIELD_PATHS: DroppedFieldPaths = {
  web_search_call: ["contents.parts.toolCall"],
  temperature: ["generationConfig.temperature"],
  top_p: ["generationConfig.topP"],
  top_k: ["generationConfig.topK"],
  presence_penalty: ["generationConfig.presencePenalty"],
  frequency_penalty: ["generationConfig.frequencyPenalty"],
  seed: ["generationConfig.seed"],
  stop: ["generationConfig.stopSequences"],
  max_tokens: ["generationConfig.maxOutputTokens"],
  logprobs: ["generationConfig.responseLogprobs", "generationConfig.logprobs"],
  reasoning: ["generationConfig.thinkingConfig"],
  reasoning_budget: ["generationConfig.thinkingConfig.thinkingBudget"],
  reasoning_effort: ["generationConfig.thinkingConfig.thinkingLevel"],
  reasoning_visibility: ["generationConfig.thinkingConfig.includeThoughts"],
  reasoning_text: ["contents.parts.thought"],
  reasoning_signature: ["contents.parts.thoughtSignature"],
  output_format: [
    "generationConfig.responseJsonSchema",
    "generationConfig.responseSchema",
    "generationConfig.responseFormat",
    "generationConfig.responseMimeType",
  ],
  output_schema: [
    "generationConfig.responseJsonSchema",
    "generationConfig.responseSchema",
    "generationConfig.responseFormat",
  ],
  image_detail: ["generationConfig.mediaResolution", "contents.parts.mediaResolution"],
  service_tier: ["serviceTier"],
  metadata: ["labels"],
  tool_choice: ["toolConfig.functionCallingConfig"],
  tool_schema: [
    "tools.functionDeclarations.parameters",
    "tools.functionDeclarations.parametersJsonSchema",
  ],
  tool_strict: ["toolConfig.functionCallingConfig.mode"],
  tool_result_image: ["contents.parts.functionResponse.parts"],
  tool_error: ["contents.parts.functionResponse.response.error"],
  tool_call: ["contents.parts.functionCall"],
  image: [...BYTES, ...RESULT_BYTES],
  audio: BYTES,
  video: BYTES,
  file: [...BYTES, ...RESULT_BYTES],
  file_name: [...BYTES, ...RESULT_BYTES].map((path) => `${path}.displayName`),
  turn_order: ["contents"],
  tool_result: ["contents"],
};
