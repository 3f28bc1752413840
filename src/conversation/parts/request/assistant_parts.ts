import { visible } from "./alternating_turns.ts";
import type { Part, ReasoningPart } from "../../neutral/conversation.ts";

/**
 * What formats with alternating turns have of a part of an assistant's turn: text, also that of a refusal, images,
 * calls and own reasoning. Signatures of text and calls have no place there.
 *
 * @param isOwn Whether the vendor issued the reasoning, or may have. Vendors reject that of others.
 * @param droppedFields Receives `reasoning_signature`, `reasoning_text`, `refusal`, `web_search_call`, `audio`, `video`
 * and `file`.
 */
export function assistantParts(
  part: Part,
  isOwn: (reasoning: ReasoningPart) => boolean,
  droppedFields: Set<string>,
): Part[] {
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
      return isOwn(part) ? [part] : withoutReasoning(part, droppedFields);
    default:
      return [part];
  }
}

function withoutReasoning({ signature, text }: ReasoningPart, droppedFields: Set<string>): Part[] {
  if (signature) droppedFields.add("reasoning_signature");
  if (text !== "") droppedFields.add("reasoning_text");
  return [];
}
