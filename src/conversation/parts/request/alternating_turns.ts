import { appendAll } from "../../../platform/lib/collections/append_all.ts";
import type { ImagePart, Part, TextPart, ToolCallPart, Turn } from "../../neutral/conversation.ts";
import { NO_RESULT, orphanAsText, type Pairs, pairsOf } from "./pairing.ts";

/** A turn of the user or the assistant, the only roles that every vendor of some formats supports. */
export interface AlternatingTurn {
  /** Always alternates. */
  readonly role: "user" | "assistant";
  /** Parts that the format can express. */
  readonly parts: Part[];
}

/** Returns what a format can express of a part; empty for nothing. */
export interface SupportedParts {
  user(part: Part): Part[];
  assistant(part: Part): Part[];
}

/**
 * Adapts turns to formats with alternating roles, the user first. Instructions between turns become marked user text,
 * and images of the assistant move to the next user turn.
 *
 * @param droppedFields Receives `image`, `citations`, `system_turn` and `turn_order`.
 * @param keptInstructions The instructions that keep their role: the last parts of a user turn, marked as such.
 */
export function alternatingTurns(
  turns: readonly Turn[],
  supported: SupportedParts,
  droppedFields: Set<string>,
  keptInstructions: ReadonlySet<Turn> = NO_TURNS,
): AlternatingTurn[] {
  const alternating: AlternatingTurn[] = [];
  let assistantImages: ImagePart[] = [];
  for (const turn of turns) {
    if (turn.role === "assistant") {
      const parts = turn.parts.flatMap(supported.assistant);
      appendAll(assistantImages, parts.filter((part) => part.kind === "image"));
      joinTurn(alternating, "assistant", parts.filter((part) => part.kind !== "image"));
    } else {
      const parts = turn.role === "user"
        ? turn.parts.flatMap(supported.user)
        : turn.parts.flatMap((part) => instructionOf(part, keptInstructions.has(turn), droppedFields));
      joinTurn(alternating, "user", [...assistantImages, ...parts]);
      assistantImages = [];
    }
  }
  if (assistantImages.length > 0) droppedFields.add("image");
  if (alternating[0]?.role !== "user") {
    droppedFields.add("turn_order");
    alternating.unshift({ role: "user", parts: [{ kind: "text", text: "." }] });
  }
  return alternating;
}

/** Adds parts to the last turn if it has that role, otherwise as a new turn; no parts add no turn. */
function joinTurn(turns: AlternatingTurn[], role: AlternatingTurn["role"], parts: readonly Part[]): void {
  if (parts.length === 0) return;
  const latest = turns.at(-1);
  if (latest?.role === role) appendAll(latest.parts, parts);
  else turns.push({ role, parts: [...parts] });
}

/** The text, unless it is blank. */
export function visible(part: TextPart): TextPart[] {
  return isVisible(part) ? [part] : [];
}

/** False for blank text, which vendors reject. */
export function isVisible(part: Part): boolean {
  return part.kind !== "text" || part.text.trim() !== "";
}

const NO_TURNS: ReadonlySet<Turn> = new Set();

function instructionOf(part: Part, isKept: boolean, droppedFields: Set<string>): TextPart[] {
  if (part.kind !== "text") return [];
  if (part.citations) droppedFields.add("citations");
  if (isKept) {
    if (part.cache) droppedFields.add("cache_control");
    return visible(part).map(({ text }) => ({ kind: "text", text, isInstruction: true }));
  }
  return visible(part).map(({ text, cache }) => {
    droppedFields.add("system_turn");
    return {
      kind: "text",
      text: `<system-reminder>\n${text}\n</system-reminder>`,
      ...(cache ? { cache } : {}),
    };
  });
}

/**
 * Gives every call a result in the next turn, before its other parts, with sanitized, unique ids. A missing result
 * becomes an error; a result without a call becomes text.
 *
 * @param turns Alternating user and assistant turns.
 * @param sanitizeId Spells a call's id for the format; equal ids stay equal, different ones different.
 * @param droppedFields Receives `turn_order`.
 */
export function pairCalls(
  turns: readonly AlternatingTurn[],
  sanitizeId: (id: string) => string,
  droppedFields: Set<string>,
): AlternatingTurn[] {
  const pairs = pairsOf(turns, sanitizeId);
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

function resultOf(call: ToolCallPart, { calls }: Pairs, droppedFields: Set<string>): Part {
  const { id, result } = calls.get(call)!;
  if (result !== null) return { ...result, callId: id };
  droppedFields.add("turn_order");
  const parts = [{ kind: "text" as const, text: NO_RESULT }];
  return { kind: "tool_result", callId: id, tool: null, parts, isError: true };
}

/** Removes a result that was moved behind its call; a result without a call becomes text. */
function withoutResult(part: Part, { orphans }: Pairs, droppedFields: Set<string>): Part[] {
  if (part.kind !== "tool_result") return [part];
  if (!orphans.has(part)) return [];
  droppedFields.add("turn_order");
  return orphanAsText(part).filter(isVisible);
}
