import type { Part, ToolCallPart } from "../../../conversation.ts";
import { NO_RESULT, orphanAsText, type Pairs, pairsOf } from "../../../pairing.ts";
import type { FieldNames } from "../shared/fields.ts";
import { type AlternatingTurn, isVisible, joinTurn } from "./repair_turns.ts";
import { wireCallId } from "./write_tools.ts";

/**
 * Gives every call a result in the next turn, before its other parts, with sanitized, unique ids. A missing result
 * becomes an error; a result without a call becomes text.
 *
 * @param turns Alternating user and assistant turns.
 */
export function pairCalls(turns: readonly AlternatingTurn[], droppedFields: FieldNames): AlternatingTurn[] {
  const pairs = pairsOf(turns, wireCallId);
  const paired: AlternatingTurn[] = [];
  for (const { role, parts } of turns) {
    if (role === "user") {
      joinTurn(paired, "user", parts.flatMap((part) => withoutResult(part, pairs, droppedFields)));
      continue;
    }
    const calls = parts.filter((part) => part.kind === "tool_call");
    joinTurn(paired, "assistant", parts.map((part) => renamed(part, pairs)));
    joinTurn(paired, "user", calls.map((call) => resultOf(call, pairs, droppedFields)));
  }
  return paired;
}

function renamed(part: Part, { calls }: Pairs): Part {
  return part.kind === "tool_call" ? { ...part, callId: calls.get(part)!.id } : part;
}

function resultOf(call: ToolCallPart, { calls }: Pairs, droppedFields: FieldNames): Part {
  const { id, result } = calls.get(call)!;
  if (result !== null) return { ...result, callId: id };
  droppedFields.add("turn_order");
  const parts = [{ kind: "text" as const, text: NO_RESULT }];
  return { kind: "tool_result", callId: id, tool: null, parts, isError: true };
}

/** Removes a result that was moved behind its call; a result without a call becomes text. */
function withoutResult(part: Part, { orphans }: Pairs, droppedFields: FieldNames): Part[] {
  if (part.kind !== "tool_result") return [part];
  if (!orphans.has(part)) return [];
  droppedFields.add("turn_order");
  return orphanAsText(part).filter(isVisible);
}
