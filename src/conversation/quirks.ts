/**
 * Deviations of a provider from the wire format that its author documents. A provider without quirks behaves as
 * documented. The keys are values of the configuration, and the texts are those of docs/configuration.md.
 */
export const QUIRKS = {
  max_tokens_field: "chat: the output limit is `max_tokens`, not `max_completion_tokens`",
  no_stream_options: "chat: `stream_options` is refused; usage comes without being asked for",
  no_developer_role: "responses: instructions within the input have the role `system`",
  needs_user_message: "chat: a request of instructions alone is refused",
  no_text_parts: "chat, responses: several texts are sent as one string",
  no_refusal_field: "chat: `refusal` of an assistant's message is unknown; it is sent as text",
  reasoning_in_history: "chat: `reasoning_content` and `reasoning_details` of earlier turns are taken back",
  reasoning_object: "chat: the objects `reasoning` and `usage` are taken, as OpenRouter does",
  no_custom_tools: "chat: tools of the type `custom` are unknown; they are offered as functions",
  no_allowed_tools: "chat, responses: `allowed_tools` is unknown; only the allowed tools are offered",
  long_tool_descriptions: "chat: descriptions of tools may be longer than 1,024 characters",
  union_schemas: "chat, responses: a tool's schema may be a choice between shapes at its top",
  three_efforts: "chat, responses: reasoning efforts are low, medium and high",
  thinking_switch: 'chat: reasoning is switched off by `thinking: {type: "disabled"}`',
  no_verbosity: "chat: `verbosity` is unknown",
  no_prompt_cache_key: "chat: `prompt_cache_key` is unknown",
  no_user_field: "chat: `user` is refused",
  user_field: "responses: the caller's user is `user`, not `safety_identifier`",
  random_seed_field: "chat: the seed is `random_seed`, not `seed`",
  nine_character_call_ids: "chat: ids of tool calls have nine letters or digits",
  small_output_limits: "responses: output limits below 16 are taken",
  file_addresses: "chat: `file_data` may be an address",
  video_parts: "chat: `video_url` parts are taken",
  any_audio_format: "chat: `input_audio` of other formats than wav and mp3 is taken",
  no_web_search:
    "all: the vendor has no web search, but for models with a price for it or where `allow_tools` names it",
  no_max_tool_calls: "responses: `max_tool_calls` is unknown",
  no_tool_combination: "content: functions beside `googleSearch` are refused",
  no_service_tier: "all: `service_tier` is unknown",
  no_metadata: "chat, responses: `metadata` and `prompt_cache_retention` are unknown",
  openapi_schemas: "content: schemas are those of OpenAPI (`parameters`, `responseSchema`), not JSON Schema",
  no_call_ids: "content: `functionCall.id` and `functionResponse.id` are refused",
  no_validated_mode: "content: the calling mode `VALIDATED` is unknown",
  no_media_in_tool_results: "content: media within `functionResponse` are refused",
  no_signature_placeholder: "content: calls without a thought signature are sent without a placeholder",
  thinking_budgets: "messages: thinking is asked for by a budget also of models of an unknown version",
  temperature_with_top_p: "messages: `temperature` and `top_p` may stand together for models of an unknown version",
  no_output_schemas: "messages: `output_config.format` and strict tools are unknown",
  no_thinking_display: "messages: `thinking.display` is unknown",
  no_threads: "messages: `thread` is refused, so that clients send the whole conversation",
} as const;

/** One of {@linkcode QUIRKS}. */
export type Quirk = keyof typeof QUIRKS;

/** The quirks of one provider. */
export type Quirks = ReadonlySet<Quirk>;

/** The quirks of a provider that behaves as its format's author documents. */
export const NO_QUIRKS: Quirks = new Set();
