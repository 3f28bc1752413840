import { type GatewayError, invalidField } from "../../../platform/lib/basics/gateway_error.ts";
import type { Conversation } from "../../neutral/conversation.ts";
import type { WireFormatName } from "../../neutral/reasoning_signature.ts";
import type { SearchSetting, UserLocation, WebSearch } from "../../neutral/web_search.ts";
import { isObject, textOrNull } from "../../neutral/wire_value.ts";

const SETTINGS = ["maxUses", "allowedDomains", "blockedDomains", "contextSize", "userLocation"] as const;

/** The web search settings that a format supports. */
export interface SearchSupport {
  /** The name of the format. */
  readonly format: WireFormatName;
  /** The supported settings. */
  readonly settings: readonly SearchSetting[];
}

/**
 * The web search that a request offers; null when it offers none. Settings without an equivalent are added to
 * `droppedFields` in the caller's spelling.
 *
 * @param canSearch Whether the model's vendor has a search that the caller may use.
 * @throws {GatewayError} `invalid_request`, naming the tool, when the vendor cannot search and the request depends on
 * it.
 */
export function searchToWrite(
  conversation: Conversation,
  canSearch: boolean,
  { format, settings }: SearchSupport,
  droppedFields: Set<string>,
): WebSearch | null {
  const search = conversation.webSearch ?? null;
  if (search === null) return null;
  if (!canSearch) {
    if (isSearchNeeded(conversation)) throw searchUnavailable(search);
    droppedFields.add(search.name);
    return null;
  }
  if (search.sent.format === format) return search;
  for (const name of search.unsupportedFields) droppedFields.add(name);
  for (const setting of SETTINGS) {
    if (search[setting] !== null && !settings.includes(setting)) {
      droppedFields.add(search.names[setting] ?? search.name);
    }
  }
  return search;
}

/** True when a request depends on its web search: it is the only tool, or required by the caller. */
export function isSearchNeeded({ webSearch, tools }: Conversation): boolean {
  return webSearch !== undefined && (webSearch.isForced || tools.length === 0);
}

/** The error for a model without a web search that the account may use. */
export function searchUnavailable({ field }: WebSearch): GatewayError {
  return invalidField(
    field,
    "web search is not available for this model and account; remove the tool or choose a model that supports it",
  );
}

/** A request's web search as a field to spread; empty when it has none. */
export function webSearchField(search: WebSearch | null): { webSearch?: WebSearch } {
  return search === null ? {} : { webSearch: search };
}

/** The conversation with its web search moved to the fields that have no equivalent. */
export function withoutSearch(conversation: Conversation): Conversation {
  const { webSearch, ...rest } = conversation;
  return webSearch === undefined
    ? conversation
    : { ...rest, unsupportedFields: [...rest.unsupportedFields, webSearch.name] };
}

/** The non-empty texts of a list; null when there are none. */
export function textsOrNull(value: unknown): readonly string[] | null {
  const texts = Array.isArray(value) ? value.filter((text) => typeof text === "string" && text !== "") : [];
  return texts.length === 0 ? null : texts;
}

/** A location as three of the formats spell it; null when it has no fields. */
export function readUserLocation(value: unknown): UserLocation | null {
  if (!isObject(value)) return null;
  const location = {
    city: textOrNull(value.city),
    region: textOrNull(value.region),
    country: textOrNull(value.country),
    timezone: textOrNull(value.timezone),
  };
  return Object.values(location).some((text) => text !== null) ? location : null;
}

/** The fields of a location that are set. */
export function writeUserLocation(location: UserLocation): { [field: string]: string } {
  return Object.fromEntries(Object.entries(location).filter(([, text]) => text !== null));
}
