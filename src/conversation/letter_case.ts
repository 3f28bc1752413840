import { invalidField } from "../lib/gateway_error.ts";
import type { RequestMember } from "./request_walk.ts";

/**
 * Names of the chat, responses and messages formats that decide who serves a request, what it costs and what it may read.
 * Vendors whose JSON reader ignores case (`encoding/json` of Go does) take `Model` for `model`, which was not checked.
 */
const CHECKED_NAMES: ReadonlySet<string> = new Set([
  ...["model", "models", "stream", "stream_options", "include_usage", "n", "best_of", "service_tier", "modalities"],
  ...["max_tokens", "max_completion_tokens", "max_output_tokens", "budget_tokens", "max_uses"],
  ...["store", "background", "deferred", "async", "batch", "caching", "cache_control", "ttl", "speed", "inference_geo"],
  ...["reasoning", "reasoning_effort", "thinking", "include", "input", "messages", "system", "instructions"],
  ...["previous_response_id", "conversation", "prompt", "container", "container_id", "environment", "voice", "audio"],
  ...["id", "type", "role", "content", "output", "source", "encrypted_content", "approval_request_id", "skill_id"],
  ...["file", "file_id", "file_ids", "file_url", "file_data", "file_uri", "vector_store_id", "vector_store_ids"],
  ...["image", "image_url", "audio_url", "video_url", "url", "uri", "input_audio", "collection_ids"],
  ...["tools", "functions", "function", "web_search_options", "search_parameters", "enable_search", "mode"],
  ...["mcp_servers", "plugins", "provider", "extra_body", "metadata"],
]);

/** Objects whose keys a caller chooses. */
const CALLERS_KEYS = /(?:^|\.)(?:variables|env|headers|logit_bias|chat_template_kwargs)\.[^.]+$/;

/**
 * Refuses a member whose name differs from one that the gateway checks in the case of its letters alone, as `Model` does.
 *
 * @throws {GatewayError} `invalid_request`, naming the field.
 */
export function refuseOtherCase({ key, path }: RequestMember): void {
  if (!MAY_FOLD.test(key)) return;
  const folded = foldedOf(key);
  if (folded === key || !CHECKED_NAMES.has(folded) || CALLERS_KEYS.test(path())) return;
  throw invalidField(path(), `expected "${folded}" in lower case, as some vendors read both names alike`);
}

const MAY_FOLD = /[^a-z0-9_]/;

/** A name as Go compares it: Unicode's simple case folding, by which `ſ` is `s` and the Kelvin sign is `k`. */
function foldedOf(key: string): string {
  return key.length > 64 ? key : key.toUpperCase().toLowerCase();
}
