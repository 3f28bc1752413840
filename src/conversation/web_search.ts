import type { JsonObject } from "../lib/json_object.ts";
import type { Form, Seal } from "./seal.ts";

/** A search of the web that a caller offers the model and that the model's vendor runs. */
export interface WebSearch extends SearchSettings {
  /** Where it stands in the request, for errors: `tools[0]`, `web_search_options`. */
  readonly field: string;
  /** What it is called where it is left out, in the caller's spelling: `tools.web_search`. */
  readonly name: string;
  /** True when the caller insists that the model searches. */
  readonly isForced: boolean;
  /** The caller's dotted names of the settings that it sent. */
  readonly names: Readonly<Partial<Record<SearchSetting, string>>>;
  /** The caller's name of the field by which it asks for the pages that are found; absent where it does not. */
  readonly wantsPages?: string;
  /** The tool as it was sent, for a vendor of the caller's own form. */
  readonly sent: { readonly form: Form; readonly tool: JsonObject };
  /** Dotted names, in the caller's spelling, of what it says beyond these words. */
  readonly beyond: readonly string[];
}

/** How a caller limits a search; null where it does not. */
export interface SearchSettings {
  /** Most searches for one reply. */
  readonly maxUses: number | null;
  /** The only domains that may be found; never empty. */
  readonly allowedDomains: readonly string[] | null;
  /** Domains that may not be found; never empty. */
  readonly blockedDomains: readonly string[] | null;
  /** How much of the found pages the model is to read: `low`, `medium`, `high`. */
  readonly contextSize: string | null;
  /** Where the user is, for results of its region. */
  readonly userLocation: UserLocation | null;
}

/** The name of one of {@linkcode SearchSettings}. */
export type SearchSetting = keyof SearchSettings;

/** Where a user is, about; null where it is not said. */
export interface UserLocation {
  /** A city's name. */
  readonly city: string | null;
  /** A region's name, such as a state. */
  readonly region: string | null;
  /** Two letters of ISO 3166-1. */
  readonly country: string | null;
  /** An IANA name of a time zone. */
  readonly timezone: string | null;
}

/** A search that the vendor ran for a reply, and what it found. */
export interface WebSearchPart {
  /** Tells the kinds of parts apart. */
  readonly kind: "web_search";
  /** The vendor's id of the call; empty where it gave none. */
  readonly callId: string;
  /** What was searched for; empty where the vendor does not tell. */
  readonly queries: readonly string[];
  /** The pages that were found, in order; null where the vendor does not tell them. */
  readonly results: readonly SearchResult[] | null;
  /** The vendor's word for why the search failed; null when it did not. */
  readonly failure: string | null;
  /** True where the vendor tells it behind the text that rests on it. */
  readonly isToldLast?: boolean;
  /** Who searched: its calls and results mean something to that vendor alone. */
  readonly origin: SearchOrigin;
}

/** Who ran a search. */
export interface SearchOrigin {
  /** The wire form in which the vendor told of it. */
  readonly form: Form;
  /** The provider; null while unknown. */
  readonly issuer: string | null;
}

/** A page that a search found. */
export interface SearchResult {
  /** Its address, as the vendor gave it. */
  readonly url: string;
  /** Its title; null where the vendor gave none. */
  readonly title: string | null;
  /** How old it is, in the vendor's words; null where it does not say. */
  readonly age: string | null;
  /** The vendor's own copy of the page, which it wants back; absent when it gave none. */
  readonly seal?: Seal;
}

/** A search that nothing limits. */
export const NO_SEARCH_SETTINGS: SearchSettings = {
  maxUses: null,
  allowedDomains: null,
  blockedDomains: null,
  contextSize: null,
  userLocation: null,
};
