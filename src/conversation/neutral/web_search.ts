import type { JsonObject } from "../../platform/lib/json/json_object.ts";
import type { ReasoningSignature, WireFormatName } from "./reasoning_signature.ts";

/** A web search that a caller offers to the model and that the model's vendor runs. */
export interface WebSearch extends SearchSettings {
  /** Its path in the request, for error messages: `tools[0]`, `web_search_options`. */
  readonly field: string;
  /** Its name when it is dropped, in the caller's spelling: `tools.web_search`. */
  readonly name: string;
  /** True when the caller requires the model to search. */
  readonly isForced: boolean;
  /** The caller's dotted names of the settings that it set. */
  readonly names: Readonly<Partial<Record<SearchSetting, string>>>;
  /** The caller's field that requests the pages found; absent when it does not request them. */
  readonly wantsPages?: string;
  /** The tool as sent, for a vendor of the caller's own format. */
  readonly sent: { readonly format: WireFormatName; readonly tool: JsonObject };
  /** Dotted names, in the caller's spelling, of its settings that have no neutral form. */
  readonly unsupportedFields: readonly string[];
}

/** Settings of a search; null when not set. */
export interface SearchSettings {
  /** Maximum number of searches for one reply. */
  readonly maxUses: number | null;
  /** The only domains to search; never empty. */
  readonly allowedDomains: readonly string[] | null;
  /** Domains to exclude; never empty. */
  readonly blockedDomains: readonly string[] | null;
  /** How much of the pages found is given to the model: `low`, `medium`, `high`. */
  readonly contextSize: string | null;
  /** The user's location, for regional results. */
  readonly userLocation: UserLocation | null;
}

/** The name of one of {@linkcode SearchSettings}. */
export type SearchSetting = keyof SearchSettings;

/** A user's approximate location; null where not given. */
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

/** A search that the vendor ran for a reply, with its results. */
export interface WebSearchPart {
  /** Discriminates `Part`. */
  readonly kind: "web_search";
  /** The vendor's id of the call; empty where it gave none. */
  readonly callId: string;
  /** The search queries; empty where the vendor does not report them. */
  readonly queries: readonly string[];
  /** The pages found, in order; null where the vendor does not report them. */
  readonly results: readonly SearchResult[] | null;
  /** The vendor's code for a failed search; null when it succeeded. */
  readonly failure: string | null;
  /** True where the vendor reports the search after the text that cites it. */
  readonly isReportedLast?: boolean;
  /** Who searched. Only that vendor can use the ids and contents of its searches. */
  readonly origin: SearchOrigin;
}

/** Who ran a search. */
export interface SearchOrigin {
  /** The wire format of the vendor's reply. */
  readonly format: WireFormatName;
  /** The provider; null while unknown. */
  readonly issuer: string | null;
}

/** A page found by a search. */
export interface SearchResult {
  /** The page's address, as the vendor sent it. */
  readonly url: string;
  /** The page's title; null where the vendor sent none. */
  readonly title: string | null;
  /** The page's age, in the vendor's wording; null where the vendor sent none. */
  readonly age: string | null;
  /** The vendor's encrypted copy of the page, to be sent back unchanged; absent when it sent none. */
  readonly signature?: ReasoningSignature;
}

/** A search without limits. */
export const NO_SEARCH_SETTINGS: SearchSettings = {
  maxUses: null,
  allowedDomains: null,
  blockedDomains: null,
  contextSize: null,
  userLocation: null,
};
