import { appendAll } from "../../../../platform/lib/collections/append_all.ts";
import type { Part, ToolCallPart, Turn } from "../../../neutral/conversation.ts";
import { orphanAsText, type PairedCall, type Pairs, pairsOf } from "../../../parts/request/pairing.ts";

/** A call with its result. */
export interface CallResponse extends PairedCall {
  readonly call: ToolCallPart;
}

/** A content to be written. A user content starts with the responses to all calls of the previous content, in order. */
export interface Draft {
  readonly role: "user" | "assistant";
  readonly responses: CallResponse[];
  readonly parts: Part[];
  /** Ids of the calls in `parts`, in order. */
  readonly callIds: string[];
}

/**
 * The turns in the order that this format requires: calls are followed by one user content with exactly one response
 * per call, wherever the conversation has them. Results without a call become text; system turns become user text.
 *
 * @param droppedFields Receives `system_turn` and `tool_result` (a result without a call).
 */
export function draftsOf(turns: readonly Turn[], droppedFields: Set<string>): Draft[] {
  const pairs = pairsOf(turns, (id) => id);
  const drafts: Draft[] = [];
  for (const turn of turns) {
    if (turn.role === "assistant") addAssistant(drafts, turn.parts, pairs);
    else addUser(drafts, turn, pairs, droppedFields);
  }
  return drafts;
}

function draftFor(drafts: Draft[], role: Draft["role"]): Draft {
  const last = drafts.at(-1);
  if (last?.role === role) return last;
  const draft: Draft = { role, responses: [], parts: [], callIds: [] };
  drafts.push(draft);
  return draft;
}

function addAssistant(drafts: Draft[], parts: readonly Part[], pairs: Pairs): void {
  const contents = parts.filter((part) => part.kind !== "tool_result");
  if (contents.length === 0) return;
  const calls = contents.filter((part) => part.kind === "tool_call");
  const answers = calls.map((call) => ({ call, ...pairs.calls.get(call)! }));
  const draft = draftFor(drafts, "assistant");
  appendAll(draft.parts, contents);
  appendAll(draft.callIds, answers.map(({ id }) => id));
  if (answers.length > 0) appendAll(draftFor(drafts, "user").responses, answers);
}

function addUser(drafts: Draft[], turn: Turn, { orphans }: Pairs, droppedFields: Set<string>): void {
  for (const part of turn.parts) {
    if (part.kind === "tool_result") {
      if (!orphans.has(part)) continue;
      droppedFields.add("tool_result");
      appendAll(draftFor(drafts, "user").parts, orphanAsText(part));
    } else if (turn.role === "system" && part.kind === "text") {
      droppedFields.add("system_turn");
      if (part.cache) droppedFields.add("cache_control");
      if (part.citations) droppedFields.add("citations");
      const text = `<system-reminder>\n${part.text}\n</system-reminder>`;
      draftFor(drafts, "user").parts.push({ kind: "text", text });
    } else {
      draftFor(drafts, "user").parts.push(part);
    }
  }
}
