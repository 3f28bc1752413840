import type { JsonObject } from "../../../../platform/lib/json/json_object.ts";
import type { Conversation } from "../../../neutral/conversation.ts";
import { searchToWrite, writeUserLocation } from "../../../parts/request/offered_search.ts";
import { SEARCH_NAME } from "../shared/search_blocks.ts";

/** The version that all models with web search support. Source: Messages API reference, "Web search tool". */
const SEARCH_TYPE = "web_search_20250305";

const SUPPORT = {
  format: "messages",
  settings: ["maxUses", "allowedDomains", "blockedDomains", "userLocation"],
} as const;

/** The web search of a request in this format. */
export interface WrittenSearch {
  readonly tool: JsonObject;
  readonly isForced: boolean;
}

/**
 * The tool for a conversation's web search; null when it offers none. This format accepts only one list of domains: of
 * two, the allowed one is kept.
 *
 * @throws {GatewayError} As {@linkcode searchToWrite}.
 */
export function writeSearch(
  conversation: Conversation,
  canSearch: boolean,
  droppedFields: Set<string>,
): WrittenSearch | null {
  const search = searchToWrite(conversation, canSearch, SUPPORT, droppedFields);
  if (search === null) return null;
  const { maxUses, allowedDomains, blockedDomains, userLocation, isForced, sent, names } = search;
  if (sent.format === "messages") return { tool: sent.tool, isForced };
  const isBoth = allowedDomains !== null && blockedDomains !== null;
  if (isBoth) droppedFields.add(names.blockedDomains ?? search.name);
  const tool = {
    type: SEARCH_TYPE,
    name: SEARCH_NAME,
    ...(maxUses === null ? {} : { max_uses: maxUses }),
    ...(allowedDomains === null ? {} : { allowed_domains: allowedDomains }),
    ...(blockedDomains === null || isBoth ? {} : { blocked_domains: blockedDomains }),
    ...(userLocation === null ? {} : { user_location: { type: "approximate", ...writeUserLocation(userLocation) } }),
  };
  return { tool, isForced };
}
