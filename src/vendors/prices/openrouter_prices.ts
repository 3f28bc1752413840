import type { PriceName } from "../../money/billing/prices/tariff.ts";

/** The prices of OpenRouter, with ours. Source: OpenRouter API reference, "List available models". */
export const OPENROUTER_PRICES: Readonly<Record<string, PriceName>> = {
  prompt: "prompt",
  completion: "completion",
  request: "request",
  image: "per_input_image",
  image_token: "image_input",
  image_output: "image_output",
  audio: "audio",
  audio_output: "audio_output",
  input_audio_cache: "audio_cache_read",
  input_cache_read: "input_cache_read",
  input_cache_write: "input_cache_write_5m",
  input_cache_write_1h: "input_cache_write_1h",
  web_search: "web_search",
};
