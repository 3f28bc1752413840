import type { RequestTarget } from "../../../contract/upstream_format.ts";
import { type AlternatingTurn, alternatingTurns, visible } from "../../../parts/request/alternating_turns.ts";
import { assistantParts } from "../../../parts/request/assistant_parts.ts";
import type { Part, TextPart, Turn } from "../../../neutral/conversation.ts";
import { isIssuedBy, type ReasoningSignature } from "../../../neutral/reasoning_signature.ts";
import type { SearchOrigin, WebSearchPart } from "../../../neutral/web_search.ts";
import type { FieldNames } from "../shared/fields.ts";
import { keptInstructions } from "./kept_instructions.ts";
import { unsupportedMedia } from "./write_media.ts";

/**
 * Adapts turns to this format: only supported parts, alternating roles, the user first.
 *
 * @throws {GatewayError} `invalid_request` for audio or video input.
 */
export function repairTurns(
  turns: readonly Turn[],
  target: RequestTarget,
  droppedFields: FieldNames,
): AlternatingTurn[] {
  const assistant = (part: Part) => ownAssistantParts(part, target, droppedFields);
  return alternatingTurns(turns, { user: userParts, assistant }, droppedFields, keptInstructions(turns, target));
}

function userParts(part: Part): Part[] {
  switch (part.kind) {
    case "audio":
    case "video":
      throw unsupportedMedia(part.kind, `this model does not support ${part.kind} input`);
    case "text":
      return visible(part);
    default:
      return [part];
  }
}

/** This format also has citations, and the searches of its vendors. */
function ownAssistantParts(part: Part, target: RequestTarget, droppedFields: FieldNames): Part[] {
  if (part.kind === "text") {
    if (part.signature) droppedFields.add("reasoning_signature");
    return visible(withOwnCitations(part, target, droppedFields));
  }
  if (part.kind === "web_search" && isSignedByTarget(part.origin, target)) return [unwrappedSearch(part)];
  return assistantParts(part, ({ signature }) => isSignedByTarget(signature, target), droppedFields);
}

/** The citations signed by the target's provider; vendors reject others. */
function withOwnCitations(
  { citations, ...part }: TextPart,
  target: RequestTarget,
  droppedFields: FieldNames,
): TextPart {
  if (!citations) return part;
  const own = citations.filter(({ signature }) => isSignedByTarget(signature, target));
  if (own.length < citations.length) droppedFields.add("citations");
  return own.length === 0 ? part : { ...part, citations: own.map(unwrapped) };
}

/** A search with its signatures unwrapped. */
function unwrappedSearch(search: WebSearchPart): WebSearchPart {
  const results = search.results && search.results.map(unwrapped);
  return { ...search, results, origin: { ...search.origin, issuer: null } };
}

function unwrapped<T extends { readonly signature?: ReasoningSignature }>(signed: T): T {
  return signed.signature ? { ...signed, signature: { ...signed.signature, issuer: null } } : signed;
}

/** True for a part that the target signed or may have signed; vendors reject others. */
function isSignedByTarget(signature: ReasoningSignature | SearchOrigin | undefined, target: RequestTarget): boolean {
  return isIssuedBy(signature, "messages", target.provider);
}
