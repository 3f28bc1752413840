import { type Effort, EFFORTS } from "../../../conversation.ts";
import type { Quirks } from "../../../quirks.ts";

/** The fields that a vendor with the chat format takes. It refuses a request with any other, even if it is null. */
export interface VendorFields {
  /** Of a request. */
  readonly request: ReadonlySet<string>;
  /** Of a message, by its role. Messages of other roles are not known. */
  readonly messages: Readonly<Record<string, ReadonlySet<string>>>;
  /** Of a part of a content, by its type. Parts of other types are not known. */
  readonly parts: Readonly<Record<string, ReadonlySet<string>>>;
  /** Of a call in a message of the assistant. */
  readonly call: ReadonlySet<string>;
  /** Roles that have another name at the vendor. */
  readonly roles: Readonly<Record<string, string>>;
  readonly efforts: readonly Effort[];
}

function setOf(names: string): ReadonlySet<string> {
  return new Set(names.split(" "));
}

const TEXT_AND_IMAGE = { text: setOf("type text"), image_url: setOf("type image_url") };

/**
 * Source: @mistralai/mistralai 2.7.0, `ChatCompletionRequest`; the vendor's error messages, "Extra inputs are not
 * permitted" (charmbracelet/crush#1590, Gage-Technologies/mistral-go#3).
 */
const MISTRAL: VendorFields = {
  request: setOf(
    "model messages temperature top_p max_tokens stream stop random_seed response_format tools tool_choice " +
      "presence_penalty frequency_penalty n prediction parallel_tool_calls prompt_mode safe_prompt guardrails " +
      "metadata reasoning_effort prompt_cache_key service_tier",
  ),
  messages: {
    system: setOf("role content"),
    user: setOf("role content"),
    assistant: setOf("role content tool_calls prefix"),
    tool: setOf("role content tool_call_id name"),
  },
  parts: TEXT_AND_IMAGE,
  call: setOf("id type function index"),
  roles: { developer: "system" },
  efforts: EFFORTS.filter((effort) => effort !== "max"),
};

/**
 * Source: Cohere, Compatibility API, "Supported parameters" and "Unsupported parameters"; the vendor's error messages,
 * "unknown field" (BerriAI/litellm#24031, agno-agi/agno#3503).
 */
const COHERE: VendorFields = {
  request: setOf(
    "model messages temperature top_p max_tokens stream stream_options stop seed response_format tools tool_choice " +
      "presence_penalty frequency_penalty reasoning_effort user",
  ),
  messages: {
    system: setOf("role content"),
    developer: setOf("role content"),
    user: setOf("role content"),
    assistant: setOf("role content tool_calls"),
    tool: setOf("role content tool_call_id"),
  },
  parts: TEXT_AND_IMAGE,
  call: setOf("id type function"),
  roles: {},
  efforts: ["none", "high"],
};

/** The fields that a vendor takes; null for a vendor that ignores or takes others. */
export function vendorFieldsFor(quirks: Quirks): VendorFields | null {
  if (quirks.has("mistral_fields")) return MISTRAL;
  return quirks.has("cohere_fields") ? COHERE : null;
}
