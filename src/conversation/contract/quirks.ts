/**
 * Deviations of a provider from the wire format that its author documents. A provider without quirks behaves as
 * documented. The keys are values of the configuration, and the texts are those of docs/providers.md.
 */
export const QUIRKS = {
  max_tokens_field: "chat: the output limit is `max_tokens`, not `max_completion_tokens`",
  no_stream_options: "chat: `stream_options` is rejected; usage is always reported",
  no_developer_role: "responses: instructions within the input have the role `system`",
  needs_user_message: "chat: a request with only instructions is rejected",
  no_text_parts: "chat, responses: several texts are sent as one string",
  no_refusal_field: "chat: `refusal` of an assistant message is not supported; it is sent as text",
  reasoning_in_history: "chat: `reasoning_content` and `reasoning_details` of earlier messages are accepted",
  adapted_requests: "chat, responses: the vendor adapts requests to its models itself",
  reasoning_object: "chat: the objects `reasoning` and `usage` of OpenRouter are accepted",
  no_custom_tools:
    "chat, responses: tools of the type `custom` or `namespace` are not supported; they are sent as functions",
  no_allowed_tools: "chat, responses: `allowed_tools` is not supported; only the allowed tools are sent",
  long_tool_descriptions: "chat: descriptions of tools may be longer than 1,024 characters",
  union_schemas: "chat, responses: a tool's schema may have `anyOf` or `oneOf` at its top level",
  three_efforts: "chat, responses: the reasoning efforts are low, medium and high",
  thinking_switch: 'chat: reasoning is switched off by `thinking: {type: "disabled"}`',
  no_verbosity: "chat: `verbosity` is not supported",
  no_prompt_cache_key: "chat: `prompt_cache_key` is not supported",
  no_user_field: "chat: `user` is rejected",
  user_field: "responses: the caller's user is `user`, not `safety_identifier`",
  random_seed_field: "chat: the seed is `random_seed`, not `seed`",
  mistral_fields: "chat: only fields that Mistral documents are accepted; others are left out",
  cohere_fields: "chat: only fields that Cohere documents are accepted; others are left out",
  groq_fields: "chat: only fields that Groq documents are accepted; reasoning of earlier messages is `reasoning`",
  nine_character_call_ids: "chat: tool call ids have nine letters or digits",
  small_output_limits: "responses: output limits below 16 are accepted",
  file_addresses: "chat: `file_data` may be an address",
  no_file_parts: "chat: `file` parts are rejected, except for texts, which are sent as text",
  video_parts: "chat: `video_url` parts are accepted",
  any_audio_format: "chat: `input_audio` accepts formats other than wav and mp3",
  no_web_search: "all: web search is not supported, except for models with a price for it or if `allow_tools` names it",
  no_max_tool_calls: "responses: `max_tool_calls` is not supported",
  no_tool_combination: "content: functions together with `googleSearch` are rejected",
  no_service_tier: "all: `service_tier` is not supported",
  no_metadata: "chat, responses: `metadata` and `prompt_cache_retention` are not supported",
  openapi_schemas: "content: schemas are those of OpenAPI (`parameters`, `responseSchema`), not JSON Schema",
  no_call_ids: "content: `functionCall.id` and `functionResponse.id` are rejected",
  no_validated_mode: "content: the calling mode `VALIDATED` is not supported",
  no_media_in_tool_results: "content: media within `functionResponse` are rejected",
  no_signature_placeholder: "content: calls without a thought signature are sent without a placeholder",
  no_store_field: "content: `store` is not sent, so that the default of the project applies",
  no_system_turns: "messages: a message with the role `system` after the first turn is rejected",
  thinking_budgets: "messages: models of an unknown version receive a thinking budget",
  temperature_with_top_p: "messages: models of an unknown version accept `temperature` and `top_p` together",
  no_output_schemas: "messages: `output_config.format` and strict tools are not supported",
  no_thinking_display: "messages: `thinking.display` is not supported",
  any_property_names: "messages: properties in a tool's schema may have any names",
  no_threads: "messages: `thread` is rejected, so that clients send the whole conversation",
  output_dimension:
    "embeddings: the length of vectors is `output_dimension`, not `dimensions`; `encoding_format: float` is rejected",
  top_k_ranks: "ranks: the number of results is `top_k`, not `top_n`",
} as const;

/** One of {@linkcode QUIRKS}. */
export type Quirk = keyof typeof QUIRKS;

/** The quirks of one provider. */
export type Quirks = ReadonlySet<Quirk>;

/** The quirks of a provider that behaves as its format's author documents. */
export const NO_QUIRKS: Quirks = new Set();
