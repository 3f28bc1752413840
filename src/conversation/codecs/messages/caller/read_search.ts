import type { JsonObject } from "../../../../platform/lib/json/json_object.ts";
import { readUserLocation, textsOrNull } from "../../../parts/request/offered_search.ts";
import type { SearchSetting, WebSearch } from "../../../neutral/web_search.ts";
import { isAbsent, isObject, listOf, numberOrNull, objectsOf } from "../../../neutral/wire_value.ts";

/** True for the web search tool of this format, in any version. */
export function isSearchTool({ type }: JsonObject): boolean {
  return typeof type === "string" && /^web_search_\d{8}$/.test(type);
}

const NAMES: Readonly<Record<string, SearchSetting>> = {
  max_uses: "maxUses",
  allowed_domains: "allowedDomains",
  blocked_domains: "blockedDomains",
  user_location: "userLocation",
};

/** Fields without effect on the search settings. */
const NEUTRAL_FIELDS = new Set(["type", "name", "cache_control"]);

/** The web search that checked `tools` offer and `tool_choice` allows; null when there is none. */
export function readSearch({ tools, tool_choice: choice }: JsonObject): WebSearch | null {
  const offered = listOf(tools);
  const index = offered.findIndex((tool) => isObject(tool) && isSearchTool(tool));
  const tool = offered[index];
  const choiceType = isObject(choice) ? choice.type : null;
  if (!isObject(tool) || choiceType === "none") return null;
  const name = `tools.${tool.type}`;
  const isOnly = objectsOf(tools).length === 1;
  const fields = Object.keys(tool).filter((field) => !isAbsent(tool[field]) && !NEUTRAL_FIELDS.has(field));
  return {
    field: `tools[${index}]`,
    name,
    isForced: (choiceType === "any" && isOnly) ||
      (isObject(choice) && choiceType === "tool" && choice.name === tool.name),
    maxUses: numberOrNull(tool.max_uses),
    allowedDomains: textsOrNull(tool.allowed_domains),
    blockedDomains: textsOrNull(tool.blocked_domains),
    contextSize: null,
    userLocation: readUserLocation(tool.user_location),
    names: Object.fromEntries(Object.entries(NAMES).map(([field, setting]) => [setting, `${name}.${field}`])),
    sent: { format: "messages", tool },
    unsupportedFields: fields.filter((field) => !Object.hasOwn(NAMES, field)).map((field) => `${name}.${field}`),
  };
}
