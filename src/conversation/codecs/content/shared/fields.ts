import type { JsonObject } from "../../../../lib/json_object.ts";
import { isObject } from "../../../wire_value.ts";

/**
 * Names of this form that have two spellings: protobuf's JSON mapping reads `camelCase` and `snake_case` alike, and
 * clients send both, also mixed in one body. Only known names are in the table, so that what a user wrote (arguments,
 * schemas' property names, tools' answers) is never renamed.
 */
const SNAKE_CASE = {
  allowedFunctionNames: "allowed_function_names",
  cachedContent: "cached_content",
  candidateCount: "candidate_count",
  displayName: "display_name",
  fileData: "file_data",
  fileUri: "file_uri",
  frequencyPenalty: "frequency_penalty",
  functionCall: "function_call",
  functionCallingConfig: "function_calling_config",
  functionDeclarations: "function_declarations",
  functionResponse: "function_response",
  generateContentRequest: "generate_content_request",
  generationConfig: "generation_config",
  googleSearch: "google_search",
  includeServerSideToolInvocations: "include_server_side_tool_invocations",
  includeThoughts: "include_thoughts",
  inlineData: "inline_data",
  maxOutputTokens: "max_output_tokens",
  mediaResolution: "media_resolution",
  mimeType: "mime_type",
  parametersJsonSchema: "parameters_json_schema",
  presencePenalty: "presence_penalty",
  responseFormat: "response_format",
  responseJsonSchema: "response_json_schema",
  responseMimeType: "response_mime_type",
  responseModalities: "response_modalities",
  responseSchema: "response_schema",
  responseLogprobs: "response_logprobs",
  serviceTier: "service_tier",
  stopSequences: "stop_sequences",
  systemInstruction: "system_instruction",
  thinkingBudget: "thinking_budget",
  thinkingConfig: "thinking_config",
  thinkingLevel: "thinking_level",
  thoughtSignature: "thought_signature",
  toolConfig: "tool_config",
  topK: "top_k",
  topP: "top_p",
} as const;

/** A name of this form that has two spellings. */
export type FieldName = keyof typeof SNAKE_CASE;

const CAMEL_CASE = new Map<string, string>(Object.entries(SNAKE_CASE).map(([camel, snake]) => [snake, camel]));

/** The field in either spelling; undefined when it is absent or null, which this form does not tell apart. */
export function field(object: JsonObject, name: FieldName): unknown {
  return object[name] ?? object[SNAKE_CASE[name]] ?? undefined;
}

/** The spelling in which the caller sent a field, for messages. */
export function spellingOf(object: JsonObject, name: FieldName): string {
  return object[name] === undefined && object[SNAKE_CASE[name]] !== undefined ? SNAKE_CASE[name] : name;
}

/** The fields of an object that are not null and not among `known` (camelCase), in the caller's spelling. */
export function fieldsBeyond(object: JsonObject, known: ReadonlySet<string>): string[] {
  return Object.keys(object).filter((key) => object[key] !== null && !known.has(CAMEL_CASE.get(key) ?? key));
}

/** A list's items; a lone object counts as a list of one, as protobuf's JSON mapping reads it. Null for all else. */
export function listIn(value: unknown): readonly unknown[] | null {
  if (Array.isArray(value)) return value;
  return isObject(value) ? [value] : null;
}

/** The objects among the items of a list; none when it is no list. */
export function objectsIn(value: unknown): JsonObject[] {
  return listIn(value)?.filter(isObject) ?? [];
}
