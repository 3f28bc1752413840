import type { ReplyEvent } from "../../../conversation/neutral/events.ts";
import type { Reply, ReplyPart } from "../../../conversation/neutral/reply.ts";
import type { ReasoningSignature } from "../../../conversation/neutral/reasoning_signature.ts";
import type { WebSearchPart } from "../../../conversation/neutral/web_search.ts";
import type { ToolPropertyNames } from "../../../conversation/neutral/write_result.ts";
import { argumentsReader } from "./readable_arguments.ts";
import { propertyRestorer, restoredPart } from "./restored_properties.ts";
import { customToolUnwrapper, unwrappedPart } from "./custom_tools.ts";

/** The facts of a reply that only the translation has: its issuer, and the caller's names of its tools. */
export interface ReplyNames {
  /** The provider's name, for the signatures that it issued. */
  readonly issuer: string;
  /** From the name on the vendor's wire to the caller's. Unchanged names are absent. */
  readonly tools: ReadonlyMap<string, string>;
  /** The caller's names of properties that have others on the vendor's wire, by the caller's name of the tool. */
  readonly properties: ToolPropertyNames;
  /** The names of the caller's tools that take free text. */
  readonly customTools: ReadonlySet<string>;
}

/** Returns a reply with its issuer on every signature and the caller's names on every call. */
export function toCallerReply(reply: Reply, names: ReplyNames): Reply {
  return { ...reply, parts: reply.parts.map((part) => ownPart(part, names)) };
}

/** Does the same as {@linkcode toCallerReply} for the events of one stream. */
export function toCallerEvents(names: ReplyNames): (event: ReplyEvent) => ReplyEvent[] {
  const readable = argumentsReader((tool) => names.customTools.has(tool));
  const unwrap = customToolUnwrapper(names.customTools);
  if (names.properties.size === 0) return (event) => readable(ownEvent(event, names)).flatMap(unwrap);
  const restore = propertyRestorer(names.properties);
  return (event) => readable(ownEvent(event, names)).flatMap(restore).flatMap(unwrap);
}

function ownEvent(event: ReplyEvent, names: ReplyNames): ReplyEvent {
  if (event.type === "web_search") return { ...event, search: ownSearch(event.search, names) };
  if (event.type === "part-end" && event.citations) {
    return { ...event, citations: event.citations.map((citation) => ownMarked(citation, names)) };
  }
  if (event.type === "part-signature") return { ...event, signature: issued(event.signature, names) };
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

function ownMarked<T extends { readonly signature?: ReasoningSignature }>(marked: T, names: ReplyNames): T {
  return marked.signature ? { ...marked, signature: issued(marked.signature, names) } : marked;
}

function ownNamed(part: ReplyPart, names: ReplyNames): ReplyPart {
  const named = part.kind === "tool_call" ? { ...part, tool: names.tools.get(part.tool) ?? part.tool } : part;
  const own = unwrappedPart(restoredPart(named, names.properties), names.customTools);
  return "signature" in own && own.signature ? { ...own, signature: issued(own.signature, names) } : own;
}

function issued(signature: ReasoningSignature, { issuer }: ReplyNames): ReasoningSignature {
  return { ...signature, issuer };
}
