import { type Fields, Kinds } from "../../../contract/unread_fields.ts";

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
}, { isKindInPath: true });

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

const RESULT_CONTENT = new Kinds(SHOWN, { isKindInPath: true });

const BLOCK = new Kinds({
  ...SHOWN,
  tool_use: { type: true, id: true, name: true, input: true, ...CACHE },
  tool_result: { type: true, tool_use_id: true, content: [RESULT_CONTENT], is_error: true, ...CACHE },
  thinking: { type: true, thinking: true, signature: true },
  redacted_thinking: { type: true, data: true },
  // Calls of other tools run by the vendor are reported by their reader.
  server_tool_use: true,
  web_search_tool_result: true,
}, { isKindInPath: true });

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

/** The fields that the request reader reads; all others are reported as dropped. */
export const REQUEST_SHAPE: Fields = {
  model: true,
  max_tokens: true,
  messages: [{ role: true, content: [BLOCK] }],
  system: [new Kinds({ text: TEXT })],
  temperature: true,
  top_p: true,
  top_k: true,
  stop_sequences: true,
  stream: true,
  metadata: { user_id: true },
  thinking: { type: isKnownThinking, budget_tokens: true, display: isKnownDisplay },
  output_config: { effort: true, format: { type: true, schema: true } },
  output_format: { type: true, schema: true },
  cache_control: CACHE_CONTROL,
  // Tools run by the vendor are reported by their reader.
  tools: [new Kinds({ custom: TOOL }, { defaultKind: "custom", allowsOthers: true })],
  tool_choice: { type: true, name: true, disable_parallel_tool_use: true },
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
