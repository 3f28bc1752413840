import type { CallerFormatName, WireFormatName } from "../../src/conversation/neutral/reasoning_signature.ts";
import type { Probe } from "./probes.ts";

/** A parameter that is neither sent nor reported as dropped, because its effect is the default. */
export interface Done {
  readonly from: CallerFormatName;
  /** The titles of its probes: paths and values. */
  readonly title: RegExp;
  /** Default: every format. */
  readonly to?: readonly WireFormatName[];
  readonly how: string;
}

const DEFAULT_BEHAVIOUR = "asks for what happens without it";

/** All such parameters. */
export const DONE: readonly Done[] = [
  {
    from: "chat",
    title: /^(logprobs|store|stream|stream_options\.include_obfuscation) = false$/,
    how: DEFAULT_BEHAVIOUR,
  },
  { from: "chat", title: /^(modalities = "text"|response_format = \{"type":"text"\})$/, how: DEFAULT_BEHAVIOUR },
  {
    from: "chat",
    title: /^tools<custom>\.custom\.format = \{"type":"text"\}$/,
    to: ["messages", "content", "converse"],
    how: DEFAULT_BEHAVIOUR,
  },
  { from: "chat", title: /\.detail = "auto"$/, to: ["messages", "content", "converse"], how: DEFAULT_BEHAVIOUR },
  { from: "chat", title: /^service_tier = "auto"$/, to: ["content", "converse"], how: DEFAULT_BEHAVIOUR },
  { from: "chat", title: /^stream_options\.include_usage = /, how: "the vendor is always asked; the gateway shows it" },
  { from: "chat", title: /^stop = /, to: ["responses"], how: "the gateway ends the text at the sequence" },
  {
    from: "chat",
    title: /^parallel_tool_calls = true$/,
    to: ["messages", "content", "converse"],
    how: DEFAULT_BEHAVIOUR,
  },
  {
    from: "chat",
    title: /^parallel_tool_calls = false$/,
    to: ["content", "converse"],
    how: "the gateway keeps the first call",
  },
  { from: "chat", title: /(functions|tools<function>\.function)\.parameters = \{\}$/, how: "says as much as none" },
  { from: "chat", title: /^tools<function>\.function\.strict = false$/, how: DEFAULT_BEHAVIOUR },
  { from: "responses", title: /<(function|custom_tool)_call_output>\.name(space)? = /, how: "its call tells it" },
  { from: "responses", title: /tools<function>\.parameters = \{\}$/, how: "says as much as none" },
  {
    from: "responses",
    title: /tools<function>\.strict = false$/,
    to: ["messages", "content", "converse"],
    how: DEFAULT_BEHAVIOUR,
  },
  {
    from: "responses",
    title: /^(background|store|stream|stream_options\.include_obfuscation) = false$/,
    how: DEFAULT_BEHAVIOUR,
  },
  { from: "responses", title: /^truncation = "disabled"$/, how: DEFAULT_BEHAVIOUR },
  { from: "responses", title: /^text\.format = \{"type":"text"\}$/, how: DEFAULT_BEHAVIOUR },
  {
    from: "responses",
    title: /tools<custom>\.format = \{"type":"text"\}$/,
    to: ["messages", "content", "converse"],
    how: DEFAULT_BEHAVIOUR,
  },
  { from: "responses", title: /^include = "reasoning\.encrypted_content"$/, how: "replies always hold it" },
  {
    from: "responses",
    title: /^include = "web_search_call\.action\.sources"$/,
    how: "asks for nothing without a search; replies that tell of a search always hold its pages",
  },
  { from: "responses", title: /^input<message>\.(role = "system"|type = "message")$/, how: "says the same" },
  { from: "responses", title: /\.status = "completed"$/, how: "every item of a request is taken as whole" },
  { from: "responses", title: /\.(async|defer_loading) = false$/, how: DEFAULT_BEHAVIOUR },
  { from: "responses", title: /\.detail = "auto"$/, to: ["messages", "content", "converse"], how: DEFAULT_BEHAVIOUR },
  { from: "responses", title: /\.output_format = "png"$/, how: DEFAULT_BEHAVIOUR },
  {
    from: "responses",
    title: /^text\.format<json_schema>\.strict = /,
    to: ["messages", "content", "converse"],
    how: "always strict",
  },
  { from: "responses", title: /^reasoning\.effort = "none"$/, to: ["chat"], how: "the target does not reason" },
  { from: "responses", title: /^service_tier = "auto"$/, to: ["content", "converse"], how: DEFAULT_BEHAVIOUR },
  {
    from: "responses",
    title: /^parallel_tool_calls = true$/,
    to: ["messages", "content", "converse"],
    how: DEFAULT_BEHAVIOUR,
  },
  {
    from: "responses",
    title: /^parallel_tool_calls = false$/,
    to: ["content", "converse"],
    how: "the gateway keeps the first call",
  },
  {
    from: "messages",
    title: /(\.is_error|citations\.enabled|^stream|\.defer_loading|\.eager_input_streaming) = false$/,
    how: DEFAULT_BEHAVIOUR,
  },
  { from: "messages", title: /^(speed = "standard"|tools<custom>\.type = "custom")$/, how: DEFAULT_BEHAVIOUR },
  { from: "messages", title: /^thinking = \{"type":"disabled"\}$/, to: ["chat"], how: "the target does not reason" },
  { from: "messages", title: /^tools<custom>\.input_schema = \{\}$/, how: "says as much as none" },
  {
    from: "messages",
    title: /^stop_sequences = /,
    to: ["responses"],
    how: "the gateway ends the text at the sequence",
  },
  {
    from: "messages",
    title: /^thinking<(enabled|adaptive)>\.display = "summarized"$/,
    how: "thoughts are shown anyway",
  },
  { from: "messages", title: /^tools<custom>\.strict = false$/, how: DEFAULT_BEHAVIOUR },
  { from: "messages", title: /\.ttl = "5m"$/, to: ["converse"], how: "the target's caches have this lifetime" },
  { from: "messages", title: /\.media_type = "image\//, to: ["converse"], how: "the type follows from the bytes" },
  {
    from: "messages",
    title: /^tools<custom>\.input_schema<object>\.(properties|required) = /,
    how: "names no property",
  },
  { from: "messages", title: /^service_tier = "auto"$/, to: ["content", "converse"], how: DEFAULT_BEHAVIOUR },
  {
    from: "messages",
    title: /\.disable_parallel_tool_use = false$/,
    to: ["content", "converse"],
    how: DEFAULT_BEHAVIOUR,
  },
  {
    from: "messages",
    title: /\.disable_parallel_tool_use = true$/,
    to: ["content", "converse"],
    how: "the gateway keeps the first call",
  },
  { from: "content", title: /= "(MEDIA_RESOLUTION_|MODE_|THINKING_LEVEL_)UNSPECIFIED"$/, how: DEFAULT_BEHAVIOUR },
  { from: "content", title: /^serviceTier = "unspecified"$/, how: DEFAULT_BEHAVIOUR },
  {
    from: "content",
    title: /^(contents\.parts\.thought|generationConfig\.responseLogprobs) = false$/,
    how: DEFAULT_BEHAVIOUR,
  },
  { from: "content", title: /^toolConfig\.includeServerSideToolInvocations = false$/, how: DEFAULT_BEHAVIOUR },
  { from: "content", title: /\.includeThoughts = false$/, to: ["responses"], how: DEFAULT_BEHAVIOUR },
  { from: "content", title: /^contents\.parts\.functionCall\.args = \{\}$/, how: "says as much as none" },
  { from: "content", title: /\.parameters(JsonSchema)? = \{\}$/, how: "says as much as none" },
  { from: "content", title: /^cachedContent = /, how: "the gateway puts the content before the conversation" },
  {
    from: "content",
    title: /^generationConfig\.stopSequences = /,
    to: ["responses"],
    how: "the gateway ends the text at the sequence",
  },
];

/** Why a probe's parameter need not be sent; null when it must be. */
export function doneByGateway(from: CallerFormatName, to: WireFormatName, { title }: Probe): string | null {
  return DONE.find((done) => done.from === from && done.title.test(title) && (done.to?.includes(to) ?? true))?.how ??
    null;
}
