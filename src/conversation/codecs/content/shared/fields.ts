import type { JsonObject } from "../../../../platform/lib/json/json_object.ts";
import { isObject } from "../../../neutral/wire_value.ts";

/**
 * Names of this format with two spellings. Protobuf's JSON mapping accepts `camelCase` and `snake_case`, and clients
 * send both, even in one body. The table has only known names, so that the user's own data (arguments, property names
 * of schemas, results of tools) is never renamed.
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

/** A name of this format with two spellings. */
export type FieldName = keyof typeof SNAKE_CASE;

const CAMEL_CASE = new Map<string, string>(Object.entries(SNAKE_CASE).map(([camel, snake]) => [snake, camel]));

/** The field in either spelling; undefined when it is absent or null, which are equivalent in this format. */
export function field(object: JsonObject, name: FieldName): unknown {
  return object[name] ?? object[SNAKE_CASE[name]] ?? undefined;
}

/** The caller's spelling of a field, for messages. */
export function spellingOf(object: JsonObject, name: FieldName): string {
  return object[name] === undefined && object[SNAKE_CASE[name]] !== undefined ? SNAKE_CASE[name] : name;
}

/** The fields of an object that are not null and not in `known` (camelCase), in the caller's spelling. */
export function otherFields(object: JsonObject, known: ReadonlySet<string>): string[] {
  return Object.keys(object).filter((key) => object[key] !== null && !known.has(CAMEL_CASE.get(key) ?? key));
}

/** A list's items; a single object counts as a list of one, as in protobuf's JSON mapping. Null for anything else. */
export function listIn(value: unknown): readonly unknown[] | null {
  if (Array.isArray(value)) return value;
  return isObject(value) ? [value] : null;
}

/** The objects in a list; empty when it is not a list. */
export function objectsIn(value: unknown): JsonObject[] {
  return listIn(value)?.filter(isObject) ?? [];
}
