import type { Part, ToolCallPart, Turn } from "../../../conversation.ts";
import { orphanAsText, type PairedCall, type Pairs, pairsOf } from "../../../pairing.ts";

/** A call, and what answers it. */
export interface Answer extends PairedCall {
  readonly call: ToolCallPart;
}

/** A content to be written: a user's begins with the answers to all calls of the content before it, in their order. */
export interface Draft {
  readonly role: "user" | "assistant";
  readonly answers: Answer[];
  readonly parts: Part[];
  /** Ids of the calls among `parts`, in order. */
  readonly callIds: string[];
}

/**
 * The turns in the order that this form demands: after calls comes one user content with exactly one answer for each
 * call, wherever the conversation has them. Answers without a call become text; turns given in the middle by the system
 * become the user's.
 *
 * @param losses Receives `system_turn` and `tool_result` (an answer without a call).
 */
export function draftsOf(turns: readonly Turn[], losses: Set<string>): Draft[] {
  const pairs = pairsOf(turns, (id) => id);
  const drafts: Draft[] = [];
  for (const turn of turns) {
    if (turn.role === "assistant") addAssistant(drafts, turn.parts, pairs);
    else addUser(drafts, turn, pairs, losses);
  }
  return drafts;
}

function draftFor(drafts: Draft[], role: Draft["role"]): Draft {
  const last = drafts.at(-1);
  if (last?.role === role) return last;
  const draft: Draft = { role, answers: [], parts: [], callIds: [] };
  drafts.push(draft);
  return draft;
}

function addAssistant(drafts: Draft[], parts: readonly Part[], pairs: Pairs): void {
  const spoken = parts.filter((part) => part.kind !== "tool_result");
  if (spoken.length === 0) return;
  const calls = spoken.filter((part) => part.kind === "tool_call");
  const answers = calls.map((call) => ({ call, ...pairs.calls.get(call)! }));
  const draft = draftFor(drafts, "assistant");
  draft.parts.push(...spoken);
  draft.callIds.push(...answers.map(({ id }) => id));
  if (answers.length > 0) draftFor(drafts, "user").answers.push(...answers);
}

function addUser(drafts: Draft[], turn: Turn, { orphans }: Pairs, losses: Set<string>): void {
  for (const part of turn.parts) {
    if (part.kind === "tool_result") {
      if (!orphans.has(part)) continue;
      losses.add("tool_result");
      draftFor(drafts, "user").parts.push(...orphanAsText(part));
    } else if (turn.role === "system" && part.kind === "text") {
      losses.add("system_turn");
      if (part.cache) losses.add("cache_control");
      if (part.citations) losses.add("citations");
      const text = `<system-reminder>\n${part.text}\n</system-reminder>`;
      draftFor(drafts, "user").parts.push({ kind: "text", text });
    } else {
      draftFor(drafts, "user").parts.push(part);
    }
  }
}
