import { type GatewayError, invalidField } from "../lib/gateway_error.ts";
import type { Conversation } from "./conversation.ts";
import type { Form } from "./seal.ts";
import type { SearchSetting, UserLocation, WebSearch } from "./web_search.ts";
import { isObject, textOrNull } from "./wire_value.ts";

const SETTINGS = ["maxUses", "allowedDomains", "blockedDomains", "contextSize", "userLocation"] as const;

/** What a form can say of a search. */
export interface SearchForm {
  /** The form that is written. */
  readonly form: Form;
  /** The settings that it has a word for. */
  readonly takes: readonly SearchSetting[];
}

/**
 * The search that a request is to offer; null when it offers none. What cannot be said is added to `losses` in the
 * caller's spelling.
 *
 * @param canSearch Whether the model's vendor has a search that the caller may use.
 * @throws {GatewayError} `invalid_request`, naming the tool, where the vendor cannot search and the request needs it.
 */
export function searchToWrite(
  conversation: Conversation,
  canSearch: boolean,
  { form, takes }: SearchForm,
  losses: Set<string>,
): WebSearch | null {
  const search = conversation.webSearch ?? null;
  if (search === null) return null;
  if (!canSearch) {
    if (isSearchNeeded(conversation)) throw searchUnavailable(search);
    losses.add(search.name);
    return null;
  }
  if (search.sent.form === form) return search;
  for (const name of search.beyond) losses.add(name);
  for (const setting of SETTINGS) {
    if (search[setting] !== null && !takes.includes(setting)) losses.add(search.names[setting] ?? search.name);
  }
  return search;
}

/** True for a request that means nothing without its search: the search is its only tool, or is insisted on. */
export function isSearchNeeded({ webSearch, tools }: Conversation): boolean {
  return webSearch !== undefined && (webSearch.isForced || tools.length === 0);
}

/** Says that no vendor of the model searches for this caller. */
export function searchUnavailable({ field }: WebSearch): GatewayError {
  return invalidField(
    field,
    "the model has no web search here that the account may use; leave the tool out, or name a model with one",
  );
}

/** A request's search as a field to spread; nothing where it has none. */
export function offeredSearch(search: WebSearch | null): { webSearch?: WebSearch } {
  return search === null ? {} : { webSearch: search };
}

/** The conversation with its search among what it could not say. */
export function withoutSearch(conversation: Conversation): Conversation {
  const { webSearch, ...rest } = conversation;
  return webSearch === undefined ? conversation : { ...rest, beyond: [...rest.beyond, webSearch.name] };
}

/** Texts of a list; null when there are none. */
export function textsOrNull(value: unknown): readonly string[] | null {
  const texts = Array.isArray(value) ? value.filter((text) => typeof text === "string" && text !== "") : [];
  return texts.length === 0 ? null : texts;
}

/** A location as three of the forms spell it; null when it says nothing. */
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

/** The fields of a location that are said. */
export function writeUserLocation(location: UserLocation): { [field: string]: string } {
  return Object.fromEntries(Object.entries(location).filter(([, text]) => text !== null));
}
