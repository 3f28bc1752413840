import { NO_QUIRKS, type Quirk, type Quirks } from "../conversation/quirks.ts";

/**
 * The default quirks of compatible vendors of the default protocol: newer fields are not sent, and the common
 * extensions of these vendors are used.
 */
export const COMPATIBLE_QUIRKS: readonly Quirk[] = [
  "max_tokens_field",
  "no_developer_role",
  "needs_user_message",
  "no_text_parts",
  "no_refusal_field",
  "reasoning_in_history",
  "reasoning_object",
  "no_custom_tools",
  "no_allowed_tools",
  "long_tool_descriptions",
  "union_schemas",
  "three_efforts",
  "no_verbosity",
  "no_prompt_cache_key",
  "no_service_tier",
  "no_metadata",
  "user_field",
  "small_output_limits",
  "file_addresses",
  "video_parts",
  "any_audio_format",
  "no_web_search",
  "no_max_tool_calls",
];

/** The default quirks of compatible vendors of the messages format. */
export const COMPATIBLE_MESSAGES_QUIRKS: readonly Quirk[] = [
  "thinking_budgets",
  "temperature_with_top_p",
  "no_output_schemas",
  "no_thinking_display",
  "any_property_names",
  "no_threads",
  "no_system_turns",
  "no_web_search",
  "no_service_tier",
];

/** The quirks of one vendor, identified by its host or a parent domain. */
interface Vendor {
  readonly host: string;
  readonly quirks: readonly Quirk[];
}

const COHERE: readonly Quirk[] = [...compatibleWithout("reasoning_in_history", "reasoning_object"), "cohere_fields"];

/** Vendors whose formats differ from those of most compatible vendors of the default protocol. */
const DEFAULT_PROTOCOL_VENDORS: readonly Vendor[] = [
  { host: "api.openai.com", quirks: [] },
  // Source: Azure OpenAI documentation, "v1 API", "Endpoints".
  { host: "openai.azure.com", quirks: [] },
  { host: "services.ai.azure.com", quirks: [] },
  // Source: OpenRouter documentation, "Reasoning Tokens" (efforts from none to xhigh for every model), "Parameters".
  { host: "openrouter.ai", quirks: [...compatibleWithout("three_efforts", "no_verbosity"), "adapted_requests"] },
  // Source: Mistral API reference, "Chat". Other fields are rejected ("Extra inputs are not permitted").
  {
    host: "api.mistral.ai",
    quirks: [
      ...compatibleWithout("reasoning_in_history", "reasoning_object", "video_parts", "any_audio_format"),
      "mistral_fields",
      "no_stream_options",
      "no_user_field",
      "random_seed_field",
      "nine_character_call_ids",
    ],
  },
  // Source: Cohere, Compatibility API, supported and unsupported parameters.
  { host: "api.cohere.ai", quirks: COHERE },
  { host: "api.cohere.com", quirks: COHERE },
  // Source: DeepSeek API documentation, "Thinking Mode".
  { host: "api.deepseek.com", quirks: [...COMPATIBLE_QUIRKS, "thinking_switch"] },
  // Source: Z.AI API reference, "Chat Completion", `thinking`.
  { host: "api.z.ai", quirks: [...COMPATIBLE_QUIRKS, "thinking_switch"] },
  // Source: Voyage AI API reference, "Text embedding models" and "Rerankers".
  { host: "api.voyageai.com", quirks: [...COMPATIBLE_QUIRKS, "output_dimension", "top_k_ranks"] },
  { host: "open.bigmodel.cn", quirks: [...COMPATIBLE_QUIRKS, "thinking_switch"] },
];

/** Source: ModelArk API reference, "Chat API", `thinking`. */
const ARK: readonly Quirk[] = [...COMPATIBLE_QUIRKS, "thinking_switch"];

/**
 * The three formats at Vertex AI. Source: Vertex AI API reference, `FunctionCall` and `FunctionResponse`, which have no
 * id; Claude on Vertex AI, "Feature support"; pydantic/pydantic-ai#6765 for messages of the role `system`. Its chat
 * completions are a compatible vendor's, except for the search, which the other two formats have.
 */
const VERTEX: readonly Quirk[] = [
  ...compatibleWithout("no_web_search"),
  "no_call_ids",
  "no_output_schemas",
  "no_threads",
  "no_store_field",
  "no_system_turns",
];

/** Source: Claude on Amazon Bedrock, "Features not supported"; pydantic/pydantic-ai#6765 for the role `system`. */
const BEDROCK: readonly Quirk[] = ["no_threads", "no_system_turns", "no_web_search"];

/**
 * Returns the quirks of a provider whose configuration sets none.
 *
 * @param kind The provider's kind in the configuration.
 */
export function defaultQuirks(kind: string, baseUrl: URL): Quirks {
  switch (kind) {
    case "google":
      return NO_QUIRKS;
    case "anthropic":
      return new Set(isAnthropicRelay(baseUrl.hostname) ? [] : COMPATIBLE_MESSAGES_QUIRKS);
    case "vertex":
      return new Set(VERTEX);
    case "bedrock":
      return new Set(BEDROCK);
    case "ark":
      return new Set(ARK);
    default: {
      const vendor = DEFAULT_PROTOCOL_VENDORS.find(({ host }) => isAt(baseUrl.hostname, host));
      return new Set(vendor?.quirks ?? COMPATIBLE_QUIRKS);
    }
  }
}

/** Hosts of vendors with a compatible messages format. Other hosts are treated as relays to Anthropic. */
const COMPATIBLE_HOSTS = [
  "api.deepseek.com",
  "api.z.ai",
  "open.bigmodel.cn",
  "api.moonshot.ai",
  "api.moonshot.cn",
  "api.minimax.io",
  "api.minimaxi.com",
  "dashscope-intl.aliyuncs.com",
  "dashscope.aliyuncs.com",
  "openrouter.ai",
];

function isAnthropicRelay(hostname: string): boolean {
  return !COMPATIBLE_HOSTS.some((host) => isAt(hostname, host));
}

function isAt(hostname: string, host: string): boolean {
  return hostname === host || hostname.endsWith(`.${host}`);
}

function compatibleWithout(...excluded: readonly Quirk[]): readonly Quirk[] {
  return COMPATIBLE_QUIRKS.filter((quirk) => !excluded.includes(quirk));
}
