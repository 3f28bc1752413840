import { type AlternatingTurn, alternatingTurns, visible } from "../../../parts/request/alternating_turns.ts";
import { assistantParts } from "../../../parts/request/assistant_parts.ts";
import type { Part, ReasoningPart, Turn } from "../../../neutral/conversation.ts";
import { isIssuedBy } from "../../../neutral/reasoning_signature.ts";
import type { RequestTarget } from "../../../contract/upstream_format.ts";

/** Adapts turns to this format: only supported parts, alternating roles, the user first. */
export function supportedTurns(
  turns: readonly Turn[],
  target: RequestTarget,
  droppedFields: Set<string>,
): AlternatingTurn[] {
  const isOwn = ({ signature }: ReasoningPart) => isIssuedBy(signature, "converse", target.provider);
  const assistant = (part: Part) => assistantParts(part, isOwn, droppedFields);
  return alternatingTurns(turns, { user: userParts, assistant }, droppedFields);
}

function userParts(part: Part): Part[] {
  return part.kind === "text" ? visible(part) : [part];
}
