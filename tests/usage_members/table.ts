import type { PriceKey } from "../../src/money/billing/prices/tariff.ts";

/** What a member of usage means for the bill. */
export type Meaning =
  /** It is priced by a key. */
  | { readonly key: PriceKey }
  /** It is part of another count, or the sum of others. */
  | { readonly inside: string }
  /** It chooses the prices. */
  | { readonly chooses: "service_tier" | "region" | "model" }
  /** It is free, or says nothing of an amount. */
  | { readonly free: string };

const key = (key: PriceKey): Meaning => ({ key });
const inside = (inside: string): Meaning => ({ inside });
const free = (free: string): Meaning => ({ free });
const GROUP = free("holds other members");

const ANTHROPIC: Readonly<Record<string, Meaning>> = {
  "cache_creation": GROUP,
  "cache_creation.ephemeral_1h_input_tokens": key("input_cache_write_1h"),
  "cache_creation.ephemeral_5m_input_tokens": inside("cache_creation_input_tokens"),
  "cache_creation_input_tokens": key("input_cache_write_5m"),
  "cache_read_input_tokens": key("input_cache_read"),
  "inference_geo": { chooses: "region" },
  "input_tokens": key("prompt"),
  "output_tokens": key("completion"),
  "output_tokens_details": GROUP,
  "output_tokens_details.thinking_tokens": inside("output_tokens"),
  "server_tool_use": GROUP,
  "server_tool_use.web_fetch_requests": key("web_fetch"),
  "server_tool_use.web_search_requests": key("web_search"),
  "service_tier": { chooses: "service_tier" },
  "speed": { chooses: "service_tier" },
};

const iteration = (name: string): [string, Meaning] => [`iterations[].${name}`, inside("the sum of all iterations")];

/** Every member of usage in the newest official clients, by the client and its type. */
export const MEANINGS: Readonly<Record<string, Readonly<Record<string, Meaning>>>> = {
  "openai CompletionUsage": {
    "completion_tokens": key("completion"),
    "completion_tokens_details": GROUP,
    "completion_tokens_details.accepted_prediction_tokens": inside("completion_tokens"),
    "completion_tokens_details.audio_tokens": key("audio_output"),
    "completion_tokens_details.reasoning_tokens": inside("completion_tokens"),
    "completion_tokens_details.rejected_prediction_tokens": inside("completion_tokens"),
    "completion_tokens_details.text_tokens": inside("completion_tokens"),
    "prompt_tokens": key("prompt"),
    "prompt_tokens_details": GROUP,
    "prompt_tokens_details.audio_tokens": key("audio"),
    "prompt_tokens_details.cache_write_tokens": key("input_cache_write_5m"),
    "prompt_tokens_details.cached_tokens": key("input_cache_read"),
    "prompt_tokens_details.image_tokens": key("image_input"),
    "prompt_tokens_details.text_tokens": inside("prompt_tokens"),
    "total_tokens": inside("both sides"),
  },
  "openai ResponseUsage": {
    "input_tokens": key("prompt"),
    "input_tokens_details": GROUP,
    "input_tokens_details.cache_write_tokens": key("input_cache_write_5m"),
    "input_tokens_details.cache_write_tokens_details": GROUP,
    "input_tokens_details.cache_write_tokens_details.ttl_12h_tokens": key("input_cache_write_12h"),
    "input_tokens_details.cache_write_tokens_details.ttl_30m_tokens": key("input_cache_write_30m"),
    "input_tokens_details.cached_tokens": key("input_cache_read"),
    "output_tokens": key("completion"),
    "output_tokens_details": GROUP,
    "output_tokens_details.reasoning_tokens": inside("output_tokens"),
    "total_tokens": inside("both sides"),
  },
  "@anthropic-ai/sdk Usage": ANTHROPIC,
  "@anthropic-ai/sdk BetaUsage": {
    ...ANTHROPIC,
    "fallback_credit": free("the credit's amount is not in the reply, and a repeated request has its own usage"),
    "fallback_credit.status": free("no amount"),
    "fallback_credit.status.reason": free("no amount"),
    "fallback_credit.status.remove_to_redeem": free("no amount"),
    "fallback_credit.status.type": free("no amount"),
    "iterations": GROUP,
    "iterations[].model": { chooses: "model" },
    "iterations[].type": free("no amount"),
    ...Object.fromEntries([
      iteration("cache_creation"),
      iteration("cache_creation.ephemeral_1h_input_tokens"),
      iteration("cache_creation.ephemeral_5m_input_tokens"),
      iteration("cache_creation_input_tokens"),
      iteration("cache_read_input_tokens"),
      iteration("input_tokens"),
      iteration("output_tokens"),
    ]),
  },
  "@google/genai GenerateContentResponseUsageMetadata": {
    "cacheTokensDetails": GROUP,
    "cacheTokensDetails[].modality": free("names the medium of a count"),
    "cacheTokensDetails[].tokenCount": inside("cachedContentTokenCount"),
    "cachedContentTokenCount": key("input_cache_read"),
    "candidatesTokenCount": key("completion"),
    "candidatesTokensDetails": GROUP,
    "candidatesTokensDetails[].modality": free("names the medium of a count"),
    "candidatesTokensDetails[].tokenCount": inside("candidatesTokenCount"),
    "initialPromptTokenCount": inside("the prompts of all calls that continue a reply"),
    "promptTokenCount": key("prompt"),
    "promptTokensDetails": GROUP,
    "promptTokensDetails[].modality": free("names the medium of a count"),
    "promptTokensDetails[].tokenCount": inside("promptTokenCount"),
    "thoughtsTokenCount": key("completion"),
    "toolUsePromptTokenCount": key("prompt"),
    "toolUsePromptTokensDetails": GROUP,
    "toolUsePromptTokensDetails[].modality": free("names the medium of a count"),
    "toolUsePromptTokensDetails[].tokenCount": inside("toolUsePromptTokenCount"),
    "totalTokenCount": inside("both sides"),
    "trafficType": { chooses: "service_tier" },
  },
  // The gateway calls Cohere's texts at its compatible address, whose usage is that of chat completions.
  "cohere-ai Cohere.Usage": {
    "billedUnits": GROUP,
    "billedUnits.classifications": free("the endpoint for classifications is not called"),
    "billedUnits.inputTokens": key("prompt"),
    "billedUnits.outputTokens": key("completion"),
    "billedUnits.searchUnits": key("search_unit"),
    "cachedTokens": key("input_cache_read"),
    "tokens": GROUP,
    "tokens.inputTokens": free("what the model read; billedUnits is what is charged"),
    "tokens.outputTokens": free("what the model wrote; billedUnits is what is charged"),
  },
  "@mistralai/mistralai UsageInfo": {
    "completionTokens": key("completion"),
    "promptAudioSeconds": key("audio_second"),
    "promptTokens": key("prompt"),
    "serviceTier": { chooses: "service_tier" },
    "totalTokens": inside("both sides"),
  },
};
