import type { Conversation } from "../conversation/conversation.ts";
import { isSearchNeeded } from "../conversation/offered_search.ts";
import type { ReplyPart } from "../conversation/reply.ts";
import type { WireFormatName } from "../conversation/reasoning_signature.ts";
import type { SearchResult, WebSearchPart } from "../conversation/web_search.ts";
import type { Directives } from "./directives.ts";
import { issueSeal } from "./seals.ts";

/** A page that a simulated search found. */
interface FoundPage {
  readonly url: string;
  readonly title: string;
}

/** What a simulated search found, and what the model says of it. */
export interface Finding {
  /** What was searched for. */
  readonly query: string;
  /** The pages, in order; the first is cited. */
  readonly pages: readonly [FoundPage, ...FoundPage[]];
  /** What rests on nothing. */
  readonly opening: string;
  /** What rests on the first page. */
  readonly cited: string;
}

/** What one client sets before the query of a request that does nothing but search. */
const REQUEST_OF_SEARCH = /^Perform a web search for the query:\s*/;

/**
 * The search of an answer: one that a directive orders, or that the request needs. Null where the request offers none.
 * Equal queries find equal pages.
 */
export function findingFor(conversation: Conversation, { search, text }: Directives): Finding | null {
  const { webSearch } = conversation;
  if (webSearch === undefined || (search === null && !isSearchNeeded(conversation))) return null;
  const query = search ?? text.replace(REQUEST_OF_SEARCH, "").split(/\s+/).slice(0, 12).join(" ");
  const domain = webSearch.allowedDomains?.[0] ?? "example.com";
  const path = encodeURIComponent(query.toLowerCase().replaceAll(/[^\p{L}\p{N}]+/gu, "-"));
  const pageAt = (place: number): FoundPage => ({
    url: `https://${domain}/${path}/${place}`,
    title: `Page ${place} on ${query}`,
  });
  return {
    query,
    pages: [pageAt(1), pageAt(2)],
    opening: `The web on "${query}": `,
    cited: "a simulated page tells it all.",
  };
}

/** What an answer with a search begins with, where the form cites stretches of a text: the search, and what is said. */
export function foundText(finding: Finding | null, form: WireFormatName): ReplyPart[] {
  if (finding === null) return [];
  const { opening, cited, pages: [page] } = finding;
  const citation = { ...page, start: opening.length, end: opening.length + cited.length };
  const search = searchPart(finding, form, "", finding.pages.map((each) => ({ ...each, age: null })));
  return cited === "" ? [search] : [search, { kind: "text", text: opening + cited, citations: [citation] }];
}

/** The same where a citation rests on a whole text, and pages and citations bear the vendor's own marks. */
export function foundBlocks(finding: Finding | null, form: WireFormatName, callId: () => string): ReplyPart[] {
  if (finding === null) return [];
  const { opening, cited, pages } = finding;
  const [{ url, title }] = pages;
  const marked = pages.map((page) => ({ ...page, age: "1 day ago", seal: issueSeal(form, page.url) }));
  const search = searchPart(finding, form, callId(), marked);
  if (cited === "") return [search];
  const place = { url, title, start: 0, end: cited.length, citedText: "All of it is told here." };
  const citation = { ...place, seal: issueSeal(form, `cited ${url}`) };
  return [search, { kind: "text", text: opening }, { kind: "text", text: cited, citations: [citation] }];
}

function searchPart(
  { query }: Finding,
  form: WireFormatName,
  callId: string,
  results: readonly SearchResult[],
): WebSearchPart {
  return { kind: "web_search", callId, queries: [query], results, failure: null, origin: { form, issuer: null } };
}
