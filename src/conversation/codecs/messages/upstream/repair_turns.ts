import type { RequestTarget } from "../../../upstream_format.ts";
import { type AlternatingTurn, alternatingTurns, visible } from "../../../alternating_turns.ts";
import type { Part, ReasoningPart, TextPart, Turn } from "../../../conversation.ts";
import type { ReasoningSignature } from "../../../reasoning_signature.ts";
import type { WebSearchPart } from "../../../web_search.ts";
import type { FieldNames } from "../shared/fields.ts";
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
  const assistant = (part: Part) => assistantParts(part, target, droppedFields);
  return alternatingTurns(turns, { user: userParts, assistant }, droppedFields);
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

function assistantParts(part: Part, target: RequestTarget, droppedFields: FieldNames): Part[] {
  switch (part.kind) {
    case "text":
      if (part.signature) droppedFields.add("reasoning_signature");
      return visible(withOwnCitations(part, target, droppedFields));
    case "web_search":
      if (isSignedByTarget(part.origin, target)) return [unwrappedSearch(part)];
      droppedFields.add("web_search_call");
      return [];
    case "refusal":
      droppedFields.add("refusal");
      return visible({ kind: "text", text: part.text });
    case "audio":
    case "video":
    case "file":
      droppedFields.add(part.kind);
      return [];
    case "tool_call":
      if (part.signature) droppedFields.add("reasoning_signature");
      return [part];
    case "reasoning":
      return isSignedByTarget(part.signature, target) ? [part] : dropReasoning(part, droppedFields);
    default:
      return [part];
  }
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
function isSignedByTarget(
  signature: { format: string; issuer: string | null } | undefined,
  target: RequestTarget,
): boolean {
  return signature?.format === "messages" && (signature.issuer === null || signature.issuer === target.provider);
}

function dropReasoning({ signature, text }: ReasoningPart, droppedFields: FieldNames): Part[] {
  if (signature) droppedFields.add("reasoning_signature");
  if (text !== "") droppedFields.add("reasoning_text");
  return [];
}
