import { hostedToolName, isPrefixedTool } from "../../../contract/hosted_tools.ts";
import { type Fields, Kinds } from "../../../contract/unread_fields.ts";

/**
 * Items that have no neutral form, so that they are dropped.
 * Sources: official client, `ResponseInputItem` and `BetaResponseInputItem`; Codex CLI, `ResponseItem`.
 */
const OTHER_ITEMS: ReadonlySet<string> = new Set([
  "agent_message",
  "apply_patch_call",
  "apply_patch_call_output",
  "code_interpreter_call",
  "compaction_summary",
  "compaction_trigger",
  "computer_call",
  "computer_call_output",
  "configuration_update",
  "context_compaction",
  "file_search_call",
  "ghost_snapshot",
  "local_shell_call",
  "local_shell_call_output",
  "mcp_approval_request",
  "mcp_approval_response",
  "mcp_call",
  "mcp_list_tools",
  "multi_agent_call",
  "multi_agent_call_output",
  "program",
  "program_output",
  "shell_call",
  "shell_call_output",
  "tool_search_call",
  "tool_search_output",
  "x_search_call",
]);

/** Parts that have no neutral form. Source: official client, content of messages, of reasoning and of tool outputs. */
const OTHER_PARTS: ReadonlySet<string> = new Set([
  "computer_screenshot",
  "encrypted_content",
  "input_video",
  "output_audio",
  "reasoning_text",
  "summary_text",
]);

/** Tools that vendors of this format run or define, without version and date. Sources: official client, `Tool`; xAI. */
const OTHER_TOOLS: ReadonlySet<string> = new Set([
  "apply_patch",
  "code_execution",
  "code_interpreter",
  "collections_search",
  "computer",
  "computer_use",
  "file_search",
  "image_generation",
  "local_shell",
  "mcp",
  "programmatic_tool_calling",
  "shell",
  "tool_search",
  "web_search",
  "x_search",
]);

const CACHE: Fields = { prompt_cache_breakpoint: { mode: true }, cache_control: { type: true, ttl: isKnownTtl } };

const PART = new Kinds({
  input_text: { type: true, text: true, ...CACHE },
  text: { type: true, text: true, ...CACHE },
  output_text: { type: true, text: true, annotations: [citation()], logprobs: isEmpty },
  input_image: { type: true, image_url: true, file_id: true, detail: true, ...CACHE },
  input_file: { type: true, file_data: true, file_url: true, file_id: true, filename: true, ...CACHE },
  input_audio: { type: true, input_audio: { data: true, format: true } },
  refusal: { type: true, refusal: true },
}, { isKindInPath: true, isKnown: isOtherPart });

/** Citations of web pages are read; those of files refer to vendor state. */
function citation(): Kinds {
  return new Kinds({ url_citation: { type: true, url: true, title: true, start_index: true, end_index: true } });
}

const FORMAT = new Kinds({
  text: { type: true },
  json_object: { type: true },
  json_schema: { type: true, name: true, description: true, schema: true, strict: true },
}, { isKnown: () => false });

const CHOICE = new Kinds({
  function: { type: true, name: true },
  custom: { type: true, name: true },
  allowed_tools: { type: true, mode: true, tools: true },
}, { allowsOthers: true, isKnown: isOtherTool });

const FUNCTION: Fields = {
  type: true,
  name: true,
  description: true,
  parameters: true,
  strict: true,
  async: isFalse,
  defer_loading: isFalse,
};

const CUSTOM: Fields = {
  type: true,
  name: true,
  description: true,
  format: new Kinds({ text: { type: true }, grammar: { type: true, syntax: true, definition: true } }),
  async: isFalse,
  defer_loading: isFalse,
};

const INNER_TOOL = new Kinds({ function: FUNCTION, custom: CUSTOM }, { allowsOthers: true, isKnown: isOtherTool });

const TOOL = new Kinds({
  function: FUNCTION,
  custom: CUSTOM,
  namespace: { type: true, name: true, description: true, tools: [INNER_TOOL] },
}, { allowsOthers: true, isKnown: isOtherTool });

/** Ids refer to vendor state and are not needed; an item with the status `completed` is complete. */
const ITEM: Fields = { type: true, id: true, status: (value) => value === "completed" };

const ITEMS = new Kinds({
  message: { ...ITEM, role: true, content: [PART] },
  function_call: { ...ITEM, call_id: true, name: true, namespace: true, arguments: true },
  custom_tool_call: { ...ITEM, call_id: true, name: true, namespace: true, input: true },
  // The name of a result is that of its call.
  function_call_output: { ...ITEM, call_id: true, name: true, namespace: true, output: [PART] },
  custom_tool_call_output: { ...ITEM, call_id: true, name: true, namespace: true, output: [PART] },
  reasoning: { ...ITEM, summary: true, content: true, encrypted_content: true },
  // Actions other than searches are reported by their reader.
  web_search_call: true,
  image_generation_call: { ...ITEM, result: true, output_format: true },
  additional_tools: { ...ITEM, role: true, tools: [TOOL] },
  // Rejected by the reader.
  item_reference: true,
  compaction: true,
}, { defaultKind: "message", isKindInPath: true, isKnown: isOtherItem });

/** The fields that the request reader reads; all others are reported as dropped. */
export const REQUEST_SHAPE: Fields = {
  model: true,
  input: [ITEMS],
  instructions: true,
  tools: [TOOL],
  tool_choice: CHOICE,
  parallel_tool_calls: true,
  max_output_tokens: true,
  // Limits a web search; without one it is reported by the reader.
  max_tool_calls: true,
  temperature: true,
  top_p: true,
  top_logprobs: true,
  stream: true,
  stream_options: { include_obfuscation: isFalse },
  text: { format: FORMAT, verbosity: true },
  reasoning: { effort: true, summary: true, generate_summary: true },
  user: true,
  safety_identifier: true,
  prompt_cache_key: true,
  prompt_cache_retention: true,
  prompt_cache_options: true,
  moderation: true,
  metadata: true,
  service_tier: true,
  include: (value) => Array.isArray(value) && value.every((name) => INCLUDED.has(name)),
  store: isFalse,
  background: isFalse,
  truncation: (value) => value === "disabled",
  // Rejected by the reader.
  previous_response_id: true,
  conversation: true,
  prompt: true,
  // The gateway's own field.
  extra_body: true,
};

const INCLUDED: ReadonlySet<unknown> = new Set([
  "reasoning.encrypted_content",
  "message.output_text.logprobs",
  "web_search_call.action.sources",
]);

function isFalse(value: unknown): boolean {
  return value === false;
}

function isEmpty(value: unknown): boolean {
  return Array.isArray(value) && value.length === 0;
}

function isKnownTtl(value: unknown): boolean {
  return value === "5m" || value === "1h";
}

/** Whether this format has an item that is not read. */
function isOtherItem(type: string): boolean {
  return OTHER_ITEMS.has(type);
}

/** Whether this format has a part that is not read. */
function isOtherPart(type: string): boolean {
  return OTHER_PARTS.has(type);
}

/** Whether this format has a tool that the caller does not define. */
function isOtherTool(type: string): boolean {
  return isPrefixedTool(type) || OTHER_TOOLS.has(hostedToolName(type));
}
