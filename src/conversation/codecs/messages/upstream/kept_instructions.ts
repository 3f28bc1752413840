import type { JsonObject } from "../../../../platform/lib/json/json_object.ts";
import type { AlternatingTurn } from "../../../parts/request/alternating_turns.ts";
import type { TextPart, Turn } from "../../../neutral/conversation.ts";
import type { RequestTarget } from "../../../contract/upstream_format.ts";
import type { FieldNames } from "../shared/fields.ts";

const NONE: ReadonlySet<Turn> = new Set();

/**
 * Instructions in the middle that may keep their role: after the user's turn, and before the assistant's or last.
 * Source: Anthropic, Mid-conversation system messages, placement rules.
 */
export function keptInstructions(turns: readonly Turn[], { facts, quirks }: RequestTarget): ReadonlySet<Turn> {
  if (facts.hasSystemTurns !== true || quirks.has("no_system_turns")) return NONE;
  const kept = new Set<Turn>();
  let following: Turn["role"] | null = null;
  for (const [index, turn] of [...turns.entries()].reverse()) {
    if (turn.role !== "system") {
      following = turn.role;
      continue;
    }
    const before = turns.slice(0, index).findLast(({ role }) => role !== "system");
    if (before?.role === "user" && following !== "user") kept.add(turn);
  }
  return kept;
}

/** A turn's instructions as a message of their own, and its other parts. */
export interface SplitTurn {
  /** Without instructions. */
  readonly parts: AlternatingTurn["parts"];
  /** The message; null if there is none. */
  readonly instruction: JsonObject | null;
}

/**
 * Separates the instructions that keep their role from a turn. In one whose other parts are blank, and were left out,
 * they have no message of the user to follow, and stay in the user's.
 */
export function splitInstructions({ parts }: AlternatingTurn, droppedFields: FieldNames): SplitTurn {
  const texts = parts.filter((part): part is TextPart => part.kind === "text" && part.isInstruction === true);
  if (texts.length === 0) return { parts, instruction: null };
  const others = parts.filter((part) => part.kind !== "text" || part.isInstruction !== true);
  if (others.length === 0) {
    droppedFields.add("system_turn");
    return { parts, instruction: null };
  }
  const content = texts.map(({ text }) => ({ type: "text", text }));
  return { parts: others, instruction: { role: "system", content } };
}
