import { type AlternatingTurn, alternatingTurns, visible } from "../../../alternating_turns.ts";
import type { Part, ReasoningPart, Turn } from "../../../conversation.ts";
import type { RequestTarget } from "../../../upstream_format.ts";

/** Adapts turns to this format: only supported parts, alternating roles, the user first. */
export function supportedTurns(
  turns: readonly Turn[],
  target: RequestTarget,
  droppedFields: Set<string>,
): AlternatingTurn[] {
  const assistant = (part: Part) => assistantParts(part, target, droppedFields);
  return alternatingTurns(turns, { user: userParts, assistant }, droppedFields);
}

function userParts(part: Part): Part[] {
  return part.kind === "text" ? visible(part) : [part];
}

function assistantParts(part: Part, target: RequestTarget, droppedFields: Set<string>): Part[] {
  switch (part.kind) {
    case "text":
      if (part.signature) droppedFields.add("reasoning_signature");
      return visible(part);
    case "refusal":
      droppedFields.add("refusal");
      return visible({ kind: "text", text: part.text });
    case "web_search":
      droppedFields.add("web_search_call");
      return [];
    case "audio":
    case "video":
    case "file":
      droppedFields.add(part.kind);
      return [];
    case "tool_call":
      if (part.signature) droppedFields.add("reasoning_signature");
      return [part];
    case "reasoning":
      return isSignedByTarget(part, target) ? [part] : withoutReasoning(part, droppedFields);
    default:
      return [part];
  }
}

/** True for reasoning that the target signed; vendors reject that of others. */
function isSignedByTarget({ signature }: ReasoningPart, { provider }: RequestTarget): boolean {
  return signature?.format === "converse" && (signature.issuer === null || signature.issuer === provider);
}

function withoutReasoning({ signature, text }: ReasoningPart, droppedFields: Set<string>): Part[] {
  if (signature) droppedFields.add("reasoning_signature");
  if (text !== "") droppedFields.add("reasoning_text");
  return [];
}
