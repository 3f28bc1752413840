import type { RequestTarget } from "../../../upstream_format.ts";
import type { WriteResult } from "../../../write_result.ts";
import type { JsonObject } from "../../../../lib/json_object.ts";
import type { Conversation } from "../../../conversation.ts";
import { wireToolName } from "../shared/calls.ts";
import { writeSearch } from "../shared/search.ts";
import { writeToolConfig, writeTools } from "./write_tools.ts";
import { writeContents } from "./write_contents.ts";
import { writeDefaultSettings } from "../../../default_settings.ts";
import { addDroppedFormatFields } from "../../../output_format_name.ts";
import { writeTier } from "../../../service_tier.ts";
import { TIER_NAMES } from "./tier_names.ts";
import { describedFormat, mustDescribeFormat, writeSettings } from "./write_settings.ts";

/**
 * Writes a request. The path names the model and whether to stream, so the body does not.
 *
 * @throws {GatewayError} `invalid_request` for media by URL that were not fetched; see `needsInlining`.
 */
export function writeRequest(conversation: Conversation, target: RequestTarget): WriteResult<JsonObject> {
  const losses = new Set<string>();
  const body: JsonObject = { contents: writeContents(conversation, target, losses) };
  const instructions = writeInstructions(conversation, target, losses);
  if (instructions.length > 0) body.systemInstruction = { parts: instructions };
  const search = writeSearch(conversation, target, losses);
  const tools = writeTools(conversation.tools, target, search, losses);
  if (tools !== null) body.tools = tools;
  const toolConfig = writeToolConfig(conversation, target, search, losses);
  if (toolConfig !== null) body.toolConfig = toolConfig;
  const settings = writeSettings(conversation, target, losses);
  if (settings !== null) body.generationConfig = settings;
  const tier = writeTier(
    conversation.serviceTier,
    "serviceTier",
    target.quirks.has("no_service_tier") ? {} : TIER_NAMES,
    losses,
  );
  Object.assign(body, tier);
  addDroppedSettings(conversation, losses);
  const toolNames = rewrittenNames(conversation);
  return toolNames.size === 0 ? { body, losses: [...losses] } : { body, losses: [...losses], toolNames };
}

function addDroppedSettings(conversation: Conversation, losses: Set<string>): void {
  if (conversation.user !== null) losses.add("user");
  if (conversation.cacheKey !== null) losses.add("prompt_cache_key");
  if (conversation.verbosity !== null) losses.add("verbosity");
  addDroppedFormatFields(conversation.outputFormat, losses);
  // The Gemini API rejects labels; only Vertex AI accepts them.
  writeDefaultSettings(conversation, false, losses);
}

function writeInstructions(conversation: Conversation, target: RequestTarget, losses: Set<string>): JsonObject[] {
  const parts: JsonObject[] = [];
  for (const { text, cache, citations } of conversation.instructions) {
    if (cache) losses.add("cache_control");
    if (citations) losses.add("citations");
    if (text !== "") parts.push({ text });
  }
  if (conversation.outputFormat !== null && mustDescribeFormat(conversation, target)) {
    losses.add("output_format");
    parts.push({ text: describedFormat(conversation.outputFormat) });
  }
  return parts;
}

/** The caller's names of tools whose names were sanitized, offered or called, by their names on the wire. */
function rewrittenNames({ tools, turns }: Conversation): Map<string, string> {
  const calls = turns.flatMap(({ parts }) => parts.flatMap((part) => part.kind === "tool_call" ? [part.tool] : []));
  const names = [...tools.map(({ name }) => name), ...calls].map((name) => [wireToolName(name), name] as const);
  return new Map(names.filter(([wire, name]) => wire !== name));
}
