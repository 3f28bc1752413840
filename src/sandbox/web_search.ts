import type { Conversation } from "../conversation/neutral/conversation.ts";
import { isSearchNeeded } from "../conversation/parts/request/offered_search.ts";
import type { ReplyPart } from "../conversation/neutral/reply.ts";
import type { WireFormatName } from "../conversation/neutral/reasoning_signature.ts";
import type { SearchResult, WebSearchPart } from "../conversation/neutral/web_search.ts";
import type { Directives } from "./directives.ts";
import { issueSignature } from "./signatures.ts";

/** A page of a simulated search. */
interface ResultPage {
  readonly url: string;
  readonly title: string;
}

/** The result of a simulated search, and the model's text about it. */
export interface SimulatedSearch {
  /** The query of the search. */
  readonly query: string;
  /** The pages in order. The first is cited. */
  readonly pages: readonly [ResultPage, ...ResultPage[]];
  /** The text without a citation. */
  readonly uncitedText: string;
  /** The text that cites the first page. */
  readonly citedText: string;
}

/** One client's prefix of the query in a request that only searches. */
const REQUEST_OF_SEARCH = /^Perform a web search for the query:\s*/;

/**
 * Returns the search of a reply: one that a directive orders, or that the request requires. Null if the request offers
 * none. Equal queries find equal pages.
 */
export function searchFor(conversation: Conversation, { search, text }: Directives): SimulatedSearch | null {
  const { webSearch } = conversation;
  if (webSearch === undefined || (search === null && !isSearchNeeded(conversation))) return null;
  const query = search ?? text.replace(REQUEST_OF_SEARCH, "").split(/\s+/).slice(0, 12).join(" ");
  const domain = webSearch.allowedDomains?.[0] ?? "example.com";
  const path = encodeURIComponent(query.toLowerCase().replaceAll(/[^\p{L}\p{N}]+/gu, "-"));
  const pageAt = (place: number): ResultPage => ({
    url: `https://${domain}/${path}/${place}`,
    title: `Page ${place} on ${query}`,
  });
  return {
    query,
    pages: [pageAt(1), pageAt(2)],
    uncitedText: `The web on "${query}": `,
    citedText: "a simulated page tells it all.",
  };
}

/**
 * Returns the first parts of a reply with a search, for formats that cite ranges of a text: the search and the text.
 */
export function searchTextParts(found: SimulatedSearch | null, form: WireFormatName): ReplyPart[] {
  if (found === null) return [];
  const { uncitedText, citedText, pages: [page] } = found;
  const citation = { ...page, start: uncitedText.length, end: uncitedText.length + citedText.length };
  const search = searchPart(found, form, "", found.pages.map((each) => ({ ...each, age: null })));
  return citedText === "" ? [search] : [search, { kind: "text", text: uncitedText + citedText, citations: [citation] }];
}

/**
 * Returns the same for formats whose citations apply to a whole text, and whose pages and citations carry the vendor's
 * own signatures.
 */
export function searchBlocks(found: SimulatedSearch | null, form: WireFormatName, callId: () => string): ReplyPart[] {
  if (found === null) return [];
  const { uncitedText, citedText, pages } = found;
  const [{ url, title }] = pages;
  const marked = pages.map((page) => ({ ...page, age: "1 day ago", signature: issueSignature(form, page.url) }));
  const search = searchPart(found, form, callId(), marked);
  if (citedText === "") return [search];
  const place = { url, title, start: 0, end: citedText.length, citedText: "All of it is told here." };
  const citation = { ...place, signature: issueSignature(form, `cited ${url}`) };
  return [search, { kind: "text", text: uncitedText }, { kind: "text", text: citedText, citations: [citation] }];
}

function searchPart(
  { query }: SimulatedSearch,
  form: WireFormatName,
  callId: string,
  results: readonly SearchResult[],
): WebSearchPart {
  return {
    kind: "web_search",
    callId,
    queries: [query],
    results,
    failure: null,
    origin: { format: form, issuer: null },
  };
}
