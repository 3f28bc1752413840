import type { ReplyEvent } from "../conversation/events.ts";
import type { Reply, ReplyPart } from "../conversation/reply.ts";
import type { ReasoningSignature } from "../conversation/reasoning_signature.ts";
import type { WebSearchPart } from "../conversation/web_search.ts";
import { customToolUnwrapper, unwrappedPart } from "./custom_tools.ts";

/** What only the translator knows of a reply: who gave it, and what the caller calls its tools. */
export interface ReplyNames {
  /** The provider's name, for the seals that it issued. */
  readonly issuer: string;
  /** From the name on the vendor's wire to the caller's; names that were not changed are missing. */
  readonly tools: ReadonlyMap<string, string>;
  /** Which of the caller's tools take free text. */
  readonly customTools: ReadonlySet<string>;
}

/** A reply with its issuer on every seal and the caller's own names on every call. */
export function ownReply(reply: Reply, names: ReplyNames): Reply {
  return { ...reply, parts: reply.parts.map((part) => ownPart(part, names)) };
}

/** As {@linkcode ownReply}, for the events of one stream. */
export function ownEvents(names: ReplyNames): (event: ReplyEvent) => ReplyEvent[] {
  const unwrap = customToolUnwrapper(names.customTools);
  return (event) => unwrap(ownEvent(event, names));
}

function ownEvent(event: ReplyEvent, names: ReplyNames): ReplyEvent {
  if (event.type === "web_search") return { ...event, search: ownSearch(event.search, names) };
  if (event.type === "part-end" && event.citations) {
    return { ...event, citations: event.citations.map((citation) => ownMarked(citation, names)) };
  }
  if (event.type === "part-seal") return { ...event, seal: issued(event.seal, names) };
  if (event.type !== "part-start" || event.part.kind !== "tool_call") return event;
  return { ...event, part: { ...event.part, tool: names.tools.get(event.part.tool) ?? event.part.tool } };
}

function ownPart(part: ReplyPart, names: ReplyNames): ReplyPart {
  if (part.kind === "web_search") return ownSearch(part, names);
  const cited = part.kind === "text" && part.citations
    ? { ...part, citations: part.citations.map((citation) => ownMarked(citation, names)) }
    : part;
  return ownNamed(cited, names);
}

/** A search and its results belong to the provider that ran it. */
function ownSearch(search: WebSearchPart, names: ReplyNames): WebSearchPart {
  const results = search.results && search.results.map((result) => ownMarked(result, names));
  return { ...search, results, origin: { ...search.origin, issuer: names.issuer } };
}

function ownMarked<T extends { readonly seal?: ReasoningSignature }>(marked: T, names: ReplyNames): T {
  return marked.seal ? { ...marked, seal: issued(marked.seal, names) } : marked;
}

function ownNamed(part: ReplyPart, names: ReplyNames): ReplyPart {
  const named = part.kind === "tool_call" ? { ...part, tool: names.tools.get(part.tool) ?? part.tool } : part;
  const own = unwrappedPart(named, names.customTools);
  return "seal" in own && own.seal ? { ...own, seal: issued(own.seal, names) } : own;
}

function issued(seal: ReasoningSignature, { issuer }: ReplyNames): ReasoningSignature {
  return { ...seal, issuer };
}
