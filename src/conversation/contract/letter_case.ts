import { invalidField } from "../../platform/lib/basics/gateway_error.ts";
import type { RequestMember } from "./request_walk.ts";

/**
 * Names of members that hold or reference state, files and addresses, at any depth of the chat, responses and messages
 * formats. Vendors with a case-insensitive JSON parser (Go's `encoding/json`) read `File_ID` as `file_id`, which would
 * bypass the gateway's checks.
 */
const REFERENCE_NAMES: readonly string[] = [
  ...["previous_response_id", "conversation", "container", "container_id", "environment", "voice", "audio"],
  ...["id", "type", "role", "content", "output", "source", "encrypted_content", "approval_request_id", "skill_id"],
  ...["file", "file_id", "file_ids", "file_url", "file_data", "file_uri", "vector_store_id", "vector_store_ids"],
  ...["image", "image_url", "audio_url", "video_url", "url", "uri", "input_audio", "collection_ids"],
  ...["cache_control", "max_uses", "budget_tokens", "include_usage", "function", "tools"],
];

/** Names of top-level members that determine the provider, the amount of output and the cost. */
const REQUEST_NAMES: readonly string[] = [
  ...["model", "models", "stream", "stream_options", "n", "best_of", "service_tier", "modalities", "provider"],
  ...["max_tokens", "max_completion_tokens", "max_output_tokens", "speed", "inference_geo", "fallbacks"],
  ...["store", "background", "deferred", "async", "batch", "caching", "include", "prompt", "mcp_servers", "plugins"],
  ...["reasoning", "reasoning_effort", "thinking", "input", "messages", "system", "instructions", "metadata"],
  ...["functions", "web_search_options", "search_parameters", "enable_search", "extra_body"],
];

const NESTED: ReadonlySet<string> = new Set(REFERENCE_NAMES);
const TOP: ReadonlySet<string> = new Set([...REFERENCE_NAMES, ...REQUEST_NAMES]);

/** Top-level members in which vendors look for references to state. */
const READ_BELOW = /^(?:input|messages|system|instructions|prompt|conversation|container|audio|tools|mcp_servers)[.[]/;

/** Paths of objects with keys chosen by the caller. */
const CALLERS_KEYS = /\.(?:variables|env|headers)\.[^.]+$/;

/**
 * Rejects a member whose name differs only in letter case from one that the gateway checks, such as `Model`.
 *
 * @throws {GatewayError} `invalid_request`, naming the field.
 */
export function rejectOtherCase(member: RequestMember): void {
  if (!MAY_FOLD.test(member.key)) return;
  const folded = foldedOf(member.key);
  if (folded === member.key || !(member.depth === 0 ? TOP.has(folded) : isReadBelow(member, folded))) return;
  throw invalidField(
    member.path(),
    `expected "${folded}" in lower case, as some vendors ignore the case of field names`,
  );
}

function isReadBelow(member: RequestMember, folded: string): boolean {
  if (!NESTED.has(folded)) return false;
  const path = member.path();
  return READ_BELOW.test(path) && !CALLERS_KEYS.test(path);
}

const MAY_FOLD = /[^a-z0-9_]/;

/** A name as Go compares it: Unicode's simple case folding, by which `ſ` is `s` and the Kelvin sign is `k`. */
function foldedOf(key: string): string {
  return key.length > 64 ? key : key.toUpperCase().toLowerCase();
}
