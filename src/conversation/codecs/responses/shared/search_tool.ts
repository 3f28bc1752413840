import type { JsonObject } from "../../../../platform/lib/json/json_object.ts";
import type { Conversation } from "../../../neutral/conversation.ts";
import type { RequestTarget } from "../../../contract/upstream_format.ts";
import {
  readUserLocation,
  searchToWrite,
  textsOrNull,
  writeUserLocation,
} from "../../../parts/request/offered_search.ts";
import type { SearchSetting, WebSearch } from "../../../neutral/web_search.ts";
import { isAbsent, isObject, listOf, numberOrNull, objectsOf, textOrNull } from "../../../neutral/wire_value.ts";

/** True for the web search tool, or a choice of it, by any of its names. */
function isSearchTool({ type }: JsonObject): boolean {
  return typeof type === "string" && /^web_search(_preview)?(_\d{4}_\d{2}_\d{2})?$/.test(type);
}

const READ_FIELDS = new Set(["type", "filters", "search_context_size", "user_location"]);
const FILTERS: Readonly<Record<string, SearchSetting>> = {
  allowed_domains: "allowedDomains",
  blocked_domains: "blockedDomains",
};

/** A tool with its position in a request. */
export interface PlacedTool {
  /** The tool as it was sent. */
  readonly tool: JsonObject;
  /** Its path, for errors: `tools[0]`, `input[2].tools[0]`. */
  readonly field: string;
  /** Its name among dropped fields: `tools.web_search`, `input.additional_tools.tools.web_search`. */
  readonly name: string;
}

/** The tools of a checked request: its own, then those that input items add. */
function* toolsIn({ tools, input }: JsonObject): Generator<PlacedTool> {
  yield* placed(tools, "tools", "tools");
  for (const [index, item] of listOf(input).entries()) {
    if (!isObject(item) || item.type !== "additional_tools") continue;
    yield* placed(item.tools, `input[${index}].tools`, "input.additional_tools.tools");
  }
}

function* placed(tools: unknown, field: string, path: string): Generator<PlacedTool> {
  for (const [index, tool] of objectsOf(tools).entries()) {
    yield { tool, field: `${field}[${index}]`, name: `${path}.${tool.type}` };
  }
}

/** The first web search tool of a checked request; null when there is none. */
export function searchToolIn(body: JsonObject): PlacedTool | null {
  return toolsIn(body).find(({ tool }) => isSearchTool(tool)) ?? null;
}

/** The web search that a checked request offers and its `tool_choice` allows; null when there is none. */
export function readSearch(body: JsonObject): WebSearch | null {
  const { tool_choice: choice, max_tool_calls: maxCalls, include } = body;
  const offered = searchToolIn(body);
  if (offered === null || !isAllowed(choice)) return null;
  const { tool, field, name } = offered;
  const filters = isObject(tool.filters) ? tool.filters : {};
  return {
    field,
    name,
    isForced: isForcedBy(choice, toolsIn(body).drop(1).next().done === true),
    maxUses: numberOrNull(maxCalls),
    allowedDomains: textsOrNull(filters.allowed_domains),
    blockedDomains: textsOrNull(filters.blocked_domains),
    contextSize: textOrNull(tool.search_context_size),
    userLocation: readUserLocation(tool.user_location),
    names: {
      maxUses: "max_tool_calls",
      allowedDomains: `${name}.filters.allowed_domains`,
      blockedDomains: `${name}.filters.blocked_domains`,
      contextSize: `${name}.search_context_size`,
      userLocation: `${name}.user_location`,
    },
    ...(listOf(include).includes("web_search_call.action.sources") ? { wantsPages: "include" } : {}),
    sent: { format: "responses", tool },
    unsupportedFields: [
      ...otherFields(tool, READ_FIELDS).map((field) => `${name}.${field}`),
      ...otherFields(filters, new Set(Object.keys(FILTERS))).map((field) => `${name}.filters.${field}`),
    ],
  };
}

function isAllowed(choice: unknown): boolean {
  if (choice === "none") return false;
  return !isObject(choice) || choice.type !== "allowed_tools" || objectsOf(choice.tools).some(isSearchTool);
}

function isForcedBy(choice: unknown, isOnly: boolean): boolean {
  if (!isObject(choice)) return choice === "required" && isOnly;
  if (choice.type !== "allowed_tools") return isSearchTool(choice);
  return choice.mode === "required" && objectsOf(choice.tools).every(isSearchTool);
}

function otherFields(object: JsonObject, known: ReadonlySet<string>): string[] {
  return Object.keys(object).filter((field) => !isAbsent(object[field]) && !known.has(field));
}

const SUPPORTED_SETTINGS = ["allowedDomains", "contextSize", "userLocation"] as const;

/** The web search of a request in this format. */
export interface WrittenSearch {
  readonly tool: JsonObject;
  /** `tool_choice`; null unless the search is required. */
  readonly choice: JsonObject | null;
  /** Other fields of the request. */
  readonly fields: JsonObject;
}

/**
 * The tool for a conversation's web search; null when it offers none.
 *
 * @throws {GatewayError} As {@linkcode searchToWrite}.
 */
export function writeSearch(
  conversation: Conversation,
  { hasWebSearch, quirks }: RequestTarget,
  droppedFields: Set<string>,
): WrittenSearch | null {
  const supportsLimit = !quirks.has("no_max_tool_calls");
  const settings = supportsLimit ? [...SUPPORTED_SETTINGS, "maxUses" as const] : SUPPORTED_SETTINGS;
  const search = searchToWrite(conversation, hasWebSearch === true, { format: "responses", settings }, droppedFields);
  if (search === null) return null;
  const tool = search.sent.format === "responses" ? search.sent.tool : searchTool(search);
  const { maxUses } = search;
  return {
    tool,
    choice: search.isForced ? { type: tool.type } : null,
    fields: supportsLimit && maxUses !== null ? { max_tool_calls: maxUses } : {},
  };
}

function searchTool({ allowedDomains, contextSize, userLocation }: WebSearch): JsonObject {
  return {
    type: "web_search",
    ...(allowedDomains === null ? {} : { filters: { allowed_domains: allowedDomains } }),
    ...(contextSize === null ? {} : { search_context_size: contextSize }),
    ...(userLocation === null ? {} : { user_location: { type: "approximate", ...writeUserLocation(userLocation) } }),
  };
}
