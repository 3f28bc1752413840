import { isObject } from "../../../neutral/wire_value.ts";
import { hostedToolName, isPrefixedTool } from "../../../contract/hosted_tools.ts";
import { type Fields, Kinds } from "../../../contract/unread_fields.ts";

/**
 * Parts that vendors of this format have and other formats do not, so that they are dropped. Sources: error messages of
 * OpenAI's API; clients of OpenRouter and Mistral; Qwen, vLLM and Cohere references, "Messages".
 */
const OTHER_PARTS: ReadonlySet<string> = new Set([
  "audio",
  "audio_url",
  "document",
  "file_url",
  "input_video",
  "reference",
  "tool_file",
  "tool_reference",
  "video",
]);

/** Tools that vendors of this format run, without version and date. Sources: references of the vendors, "Tools". */
const HOSTED_TOOLS: ReadonlySet<string> = new Set([
  "bash",
  "browser_automation",
  "browser_search",
  "code_execution",
  "code_interpreter",
  "collections_search",
  "computer",
  "connector",
  "document_library",
  "drawing_tool",
  "file_search",
  "google_maps",
  "google_search",
  "image_generation",
  "mcp",
  "memory",
  "retrieval",
  "text_editor",
  "url_context",
  "web_browser",
  "web_fetch",
  "web_search",
  "web_search_premium",
  "x_search",
]);

/** Formats of replies that vendors of this format have. Sources: references of OpenRouter, Fireworks and vLLM. */
const OTHER_OUTPUTS: ReadonlySet<string> = new Set(["grammar", "python", "regex", "structural_tag"]);

/** Prompt cache marks of gateways and of OpenAI. Other formats support only these values of `ttl`. */
const MARK: Fields = { cache_control: { type: true, ttl: isKnownTtl } };
const CACHE: Fields = { ...MARK, prompt_cache_breakpoint: { mode: true } };

/** The fields that are read of content parts, in messages of any role. Source: Chat Completions reference; dialects. */
const PART = new Kinds({
  text: { type: true, text: true, ...CACHE },
  image_url: { type: true, image_url: { url: true, detail: true }, ...CACHE },
  input_audio: { type: true, input_audio: { data: true, format: true } },
  file: { type: true, file: { file_data: true, file_id: true, filename: true }, ...CACHE },
  video_url: { type: true, video_url: { url: true } },
  document_url: { type: true, document_url: { url: true } },
  thinking: { type: true, thinking: true },
  refusal: { type: true, refusal: true },
}, { isKnown: isOtherPart });

const CALL = new Kinds({
  function: {
    id: true,
    type: true,
    index: true,
    function: { name: true, arguments: true },
    extra_content: { google: { thought_signature: true } },
  },
  custom: { id: true, type: true, index: true, custom: { name: true, input: true } },
  // The function of a call is read whatever its type is: clients join the pieces of a stream to "functionfunction".
}, { defaultKind: "function", isKnown: (_, call) => isObject(call.function) });

const MESSAGE = new Kinds({
  system: { role: true, content: [PART], ...MARK },
  developer: { role: true, content: [PART], ...MARK },
  user: { role: true, content: [PART], ...MARK },
  assistant: {
    role: true,
    content: [PART],
    ...MARK,
    refusal: true,
    tool_calls: [CALL],
    function_call: { name: true, arguments: true },
    reasoning_content: true,
    reasoning: true,
    reasoning_details: true,
    extra_content: { google: { thought_signature: true } },
    // Replies contain it, and clients send whole messages back.
    annotations: (value) => Array.isArray(value) && value.length === 0,
  },
  tool: { role: true, content: [PART], tool_call_id: true, name: true, ...MARK },
  function: { role: true, content: [PART], name: true, ...MARK },
}, { kindField: "role" });

const DEFINITION: Fields = { name: true, description: true, parameters: true, strict: true };

const TOOL = new Kinds({
  function: { type: true, function: DEFINITION, ...CACHE },
  custom: {
    type: true,
    custom: {
      name: true,
      description: true,
      format: new Kinds({
        text: { type: true },
        grammar: { type: true, grammar: { syntax: true, definition: true }, syntax: true, definition: true },
      }),
    },
  },
}, { defaultKind: "function", allowsOthers: true, isKnown: isHostedTool });

const CHOICE = new Kinds({
  function: { type: true, function: { name: true } },
  custom: { type: true, custom: { name: true } },
  allowed_tools: { type: true, allowed_tools: { mode: true, tools: true } },
}, { defaultKind: "function", allowsOthers: true, isKnown: isHostedTool });

const FORMAT = new Kinds({
  text: { type: true },
  json_object: { type: true },
  json_schema: { type: true, json_schema: { name: true, description: true, schema: true, strict: true } },
}, { isKnown: isOtherOutput });

/** The fields that the request reader reads; all others are reported as dropped. */
export const REQUEST_SHAPE: Fields = {
  model: true,
  messages: [MESSAGE],
  max_tokens: true,
  max_completion_tokens: true,
  temperature: true,
  top_p: true,
  top_k: true,
  presence_penalty: true,
  frequency_penalty: true,
  seed: true,
  stop: true,
  n: true,
  stream: true,
  // The gateway's streams contain no padding.
  stream_options: { include_usage: true, include_obfuscation: isFalse },
  tools: [TOOL],
  functions: [{ name: true, description: true, parameters: true }],
  tool_choice: CHOICE,
  function_call: { name: true },
  parallel_tool_calls: true,
  response_format: FORMAT,
  user: true,
  safety_identifier: true,
  prompt_cache_key: true,
  prompt_cache_retention: true,
  prompt_cache_options: true,
  moderation: true,
  metadata: true,
  service_tier: true,
  logprobs: true,
  top_logprobs: true,
  verbosity: true,
  reasoning_effort: true,
  usage: { include: true },
  reasoning: { effort: true, max_tokens: true, enabled: true, exclude: true },
  thinking: { type: true, budget_tokens: true },
  // Reported with the hosted tools.
  web_search_options: true,
  modalities: (value) => Array.isArray(value) && value.every((modality) => modality === "text"),
  store: isFalse,
  // The gateway's own field.
  extra_body: true,
};

function isKnownTtl(value: unknown): boolean {
  return value === "5m" || value === "1h";
}

function isFalse(value: unknown): boolean {
  return value === false;
}

/** Whether a vendor of this format has a part that is not read. */
function isOtherPart(type: string): boolean {
  return OTHER_PARTS.has(type);
}

/** Whether a vendor of this format runs a tool. */
function isHostedTool(type: string): boolean {
  return type === "builtin_function" || isPrefixedTool(type) || HOSTED_TOOLS.has(hostedToolName(type));
}

/** Whether a vendor of this format has an output format that is not read. */
function isOtherOutput(type: string): boolean {
  return OTHER_OUTPUTS.has(type);
}
