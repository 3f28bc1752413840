import type { JsonObject } from "../../../../platform/lib/json/json_object.ts";
import type { Conversation } from "../../../neutral/conversation.ts";
import { readUserLocation, searchToWrite, writeUserLocation } from "../../../parts/request/offered_search.ts";
import { NO_SEARCH_SETTINGS, type WebSearch } from "../../../neutral/web_search.ts";
import { isAbsent, objectOf, textOf } from "../../../neutral/wire_value.ts";

const NAME = "web_search_options";

const READ_FIELDS = new Set(["search_context_size", "user_location"]);

/** The web search that checked `web_search_options` request, even if empty; null when they are absent. */
export function readSearch({ web_search_options: options, tool_choice: choice }: JsonObject): WebSearch | null {
  const fields = objectOf(options);
  if (fields === null || choice === "none") return null;
  return {
    ...NO_SEARCH_SETTINGS,
    field: NAME,
    name: NAME,
    isForced: false,
    contextSize: textOf(fields.search_context_size) || null,
    userLocation: readUserLocation(objectOf(fields.user_location)?.approximate),
    names: { contextSize: `${NAME}.search_context_size`, userLocation: `${NAME}.user_location` },
    sent: { format: "chat", tool: fields },
    unsupportedFields: Object.keys(fields).filter((key) => !READ_FIELDS.has(key) && !isAbsent(fields[key])).map((key) =>
      `${NAME}.${key}`
    ),
  };
}

const SUPPORT = { format: "chat", settings: ["contextSize", "userLocation"] } as const;

/**
 * `web_search_options` of a conversation; no field when it offers no search. A model that accepts the field always
 * searches, so that a required search needs no setting. The pages found are not reported, except those that the text
 * cites.
 *
 * @throws {GatewayError} As {@linkcode searchToWrite}.
 */
export function writeSearch(
  conversation: Conversation,
  canSearch: boolean,
  droppedFields: Set<string>,
): { web_search_options?: JsonObject } {
  const search = searchToWrite(conversation, canSearch, SUPPORT, droppedFields);
  if (search === null) return {};
  if (search.sent.format === "chat") return { web_search_options: search.sent.tool };
  if (search.wantsPages !== undefined) droppedFields.add(search.wantsPages);
  const { contextSize, userLocation } = search;
  const approximate = userLocation && writeUserLocation(userLocation);
  return {
    web_search_options: {
      ...(contextSize === null ? {} : { search_context_size: contextSize }),
      ...(approximate ? { user_location: { type: "approximate", approximate } } : {}),
    },
  };
}

/**
 * Only models with "search" in their names accept the options. Source: OpenAI guide "Web search", "Chat Completions".
 */
export function hasWebSearch(model: string): boolean {
  return /search/.test(model);
}
