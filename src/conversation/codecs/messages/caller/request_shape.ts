import { hostedToolName } from "../../../contract/hosted_tools.ts";
import { type Fields, Kinds } from "../../../contract/unread_fields.ts";

/**
 * Blocks that have no neutral form, or only in another place than where they were sent, so that they are dropped.
 * Source: official client, `BetaContentBlockParam` and the content of `BetaToolResultBlockParam`.
 */
const OTHER_BLOCKS: ReadonlySet<string> = new Set([
  "advisor_tool_result",
  "bash_code_execution_tool_result",
  "browser_state",
  "code_execution_tool_result",
  "compaction",
  "container_upload",
  "document",
  "fallback",
  "image",
  "mcp_tool_listing",
  "mcp_tool_result",
  "mcp_tool_use",
  "redacted_thinking",
  "search_result",
  "server_tool_use",
  "text_editor_code_execution_tool_result",
  "thinking",
  "tool_addition",
  "tool_reference",
  "tool_removal",
  "tool_result",
  "tool_search_tool_result",
  "tool_use",
  "web_fetch_tool_result",
  "web_search_tool_result",
]);

/** Tools that the vendor runs or defines, without version. Source: official client, `BetaToolUnion`. */
const OTHER_TOOLS: ReadonlySet<string> = new Set([
  "advisor",
  "bash",
  "browser_toolset",
  "code_execution",
  "computer",
  "computer_toolset",
  "mcp",
  "memory",
  "text_editor",
  "tool_search_tool_bm25",
  "tool_search_tool_regex",
  "web_fetch",
  "web_search",
]);

const CACHE_CONTROL: Fields = { type: true, ttl: (value) => value === "5m" || value === "1h" };

const CACHE: Fields = { cache_control: CACHE_CONTROL };

/** Citations of web pages are read; those of documents depend on positions in the documents. */
const CITATION = new Kinds({
  web_search_result_location: { type: true, url: true, title: true, cited_text: true, encrypted_index: true },
});

const TEXT: Fields = { type: true, text: true, citations: [CITATION], ...CACHE };

/** Blocks within a document. */
const INNER = new Kinds({
  text: TEXT,
  image: {
    type: true,
    source: new Kinds({
      base64: { type: true, media_type: true, data: true },
      url: { type: true, url: true },
      // Rejected by the reader.
      file: true,
    }),
    ...CACHE,
  },
}, { isKindInPath: true, isKnown: isOtherBlock });

const SOURCE = new Kinds({
  base64: { type: true, media_type: true, data: true },
  url: { type: true, url: true },
  text: { type: true, media_type: true, data: true },
  content: { type: true, content: [INNER] },
  // Rejected by the reader.
  file: true,
});

/** Content blocks of user messages and tool results. A search result is read as text and reported by its reader. */
const SHOWN: Fields = {
  text: TEXT,
  image: { type: true, source: SOURCE, ...CACHE },
  document: {
    type: true,
    source: SOURCE,
    title: true,
    context: true,
    citations: { enabled: (value) => value === false },
    ...CACHE,
  },
  search_result: true,
  tool_reference: true,
};

const RESULT_CONTENT = new Kinds(SHOWN, { isKindInPath: true, isKnown: isOtherBlock });

const BLOCK = new Kinds({
  ...SHOWN,
  tool_use: { type: true, id: true, name: true, input: true, ...CACHE },
  tool_result: { type: true, tool_use_id: true, content: [RESULT_CONTENT], is_error: true, ...CACHE },
  thinking: { type: true, thinking: true, signature: true },
  redacted_thinking: { type: true, data: true },
  // Calls of other tools run by the vendor are reported by their reader.
  server_tool_use: true,
  web_search_tool_result: true,
}, { isKindInPath: true, isKnown: isOtherBlock });

const TOOL: Fields = {
  type: true,
  name: true,
  description: true,
  input_schema: true,
  strict: true,
  defer_loading: isFalse,
  eager_input_streaming: isFalse,
  ...CACHE,
};

const CHOICE: Fields = { type: true, name: true, disable_parallel_tool_use: true };

const FORMAT = new Kinds({ json_schema: { type: true, schema: true } }, { isKnown: () => false });

/** The fields that the request reader reads; all others are reported as dropped. */
export const REQUEST_SHAPE: Fields = {
  model: true,
  max_tokens: true,
  messages: [{ role: true, content: [BLOCK] }],
  system: [new Kinds({ text: TEXT }, { isKnown: isOtherBlock })],
  temperature: true,
  top_p: true,
  top_k: true,
  stop_sequences: true,
  stream: true,
  metadata: { user_id: true },
  thinking: { type: isKnownThinking, budget_tokens: true, display: isKnownDisplay },
  output_config: { effort: true, format: FORMAT },
  output_format: FORMAT,
  cache_control: CACHE_CONTROL,
  // Tools run by the vendor are reported by their reader.
  tools: [new Kinds({ custom: TOOL }, { defaultKind: "custom", allowsOthers: true, isKnown: isOtherTool })],
  tool_choice: new Kinds({ auto: CHOICE, any: CHOICE, tool: CHOICE, none: CHOICE }, { isKnown: () => false }),
  service_tier: true,
  speed: (value) => value === "standard",
  // The gateway's own field.
  extra_body: true,
};

function isFalse(value: unknown): boolean {
  return value === false;
}

function isKnownThinking(value: unknown): boolean {
  return value === "enabled" || value === "adaptive" || value === "disabled";
}

function isKnownDisplay(value: unknown): boolean {
  return value === "summarized" || value === "omitted";
}

/** Whether this format has a block that is not read at its place. */
function isOtherBlock(type: string): boolean {
  return OTHER_BLOCKS.has(type);
}

/** Whether this format has a tool that the caller does not define. */
function isOtherTool(type: string): boolean {
  return OTHER_TOOLS.has(hostedToolName(type));
}
