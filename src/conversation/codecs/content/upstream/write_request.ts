import type { RequestTarget } from "../../../contract/upstream_format.ts";
import type { WriteResult } from "../../../neutral/write_result.ts";
import type { JsonObject } from "../../../../platform/lib/json/json_object.ts";
import type { Conversation } from "../../../neutral/conversation.ts";
import { wireToolName } from "../shared/calls.ts";
import { writeSearch } from "../shared/search.ts";
import { writeToolConfig, writeTools } from "./write_tools.ts";
import { writeContents } from "./write_contents.ts";
import { writeDefaultSettings } from "../../../parts/request/default_settings.ts";
import { addDroppedFormatFields } from "../../../parts/request/output_format_name.ts";
import { writeTier } from "../../../parts/request/service_tier.ts";
import { TIER_NAMES } from "./tier_names.ts";
import { describedFormat, mustDescribeFormat, writeSettings } from "./write_settings.ts";

/**
 * Writes a request. The path names the model and whether to stream, so the body does not.
 *
 * @throws {GatewayError} `invalid_request` for media by URL that were not fetched; see `needsInlining`.
 */
export function writeRequest(conversation: Conversation, target: RequestTarget): WriteResult<JsonObject> {
  const droppedFields = new Set<string>();
  const body: JsonObject = { contents: writeContents(conversation, target, droppedFields) };
  const instructions = writeInstructions(conversation, target, droppedFields);
  if (instructions.length > 0) body.systemInstruction = { parts: instructions };
  const search = writeSearch(conversation, target, droppedFields);
  const tools = writeTools(conversation.tools, target, search, droppedFields);
  if (tools !== null) body.tools = tools;
  const toolConfig = writeToolConfig(conversation, target, search, droppedFields);
  if (toolConfig !== null) body.toolConfig = toolConfig;
  const settings = writeSettings(conversation, target, droppedFields);
  if (settings !== null) body.generationConfig = settings;
  const tier = writeTier(
    conversation.serviceTier,
    "serviceTier",
    target.quirks.has("no_service_tier") ? {} : TIER_NAMES,
    droppedFields,
  );
  Object.assign(body, tier);
  if (!target.quirks.has("no_store_field")) body.store = false;
  addDroppedSettings(conversation, droppedFields);
  const toolNames = rewrittenNames(conversation);
  return toolNames === null
    ? { body, droppedFields: [...droppedFields] }
    : { body, droppedFields: [...droppedFields], toolNames };
}

function addDroppedSettings(conversation: Conversation, droppedFields: Set<string>): void {
  if (conversation.user !== null) droppedFields.add("user");
  if (conversation.cacheKey !== null) droppedFields.add("prompt_cache_key");
  if (conversation.verbosity !== null) droppedFields.add("verbosity");
  addDroppedFormatFields(conversation.outputFormat, droppedFields);
  // Labels take few characters, and the metadata of other formats any.
  writeDefaultSettings(conversation, false, droppedFields);
}

function writeInstructions(
  conversation: Conversation,
  target: RequestTarget,
  droppedFields: Set<string>,
): JsonObject[] {
  const parts: JsonObject[] = [];
  for (const { text, cache, citations } of conversation.instructions) {
    if (cache) droppedFields.add("cache_control");
    if (citations) droppedFields.add("citations");
    if (text !== "") parts.push({ text });
  }
  if (conversation.outputFormat !== null && mustDescribeFormat(conversation, target)) {
    droppedFields.add("output_format");
    parts.push({ text: describedFormat(conversation.outputFormat) });
  }
  return parts;
}

/**
 * The caller's names of tools whose names were sanitized, offered or called, by their names on the wire; null if there
 * are none.
 */
function rewrittenNames({ tools, turns }: Conversation): ReadonlyMap<string, string> | null {
  const names = tools.map(({ name }) => name);
  for (const { parts } of turns) {
    for (const part of parts) if (part.kind === "tool_call") names.push(part.tool);
  }
  const renamed = names.filter((name) => wireToolName(name) !== name);
  return renamed.length === 0 ? null : new Map(renamed.map((name) => [wireToolName(name), name]));
}
