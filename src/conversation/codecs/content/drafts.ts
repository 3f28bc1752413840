import type { Part, ToolCallPart, ToolResultPart, Turn } from "../../conversation.ts";
import { shortHash } from "./calls.ts";

/** An answer to a call; `result` is null when the conversation has none. */
export interface Answer {
  readonly call: ToolCallPart;
  /** The call's id, made unlike every other. */
  readonly callId: string;
  readonly result: ToolResultPart | null;
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
  const answers = assignAnswers(turns);
  const drafts: Draft[] = [];
  turns.forEach((turn, at) => {
    if (turn.role === "assistant") addAssistant(drafts, turn.parts, answers.byTurn[at] ?? []);
    else addUser(drafts, turn, answers.used, losses);
  });
  return drafts;
}

interface Assignment {
  /** The answers to each turn's calls. */
  readonly byTurn: readonly Answer[][];
  readonly used: ReadonlySet<ToolResultPart>;
}

/** Gives every call the first answer with its id that comes after it. */
function assignAnswers(turns: readonly Turn[]): Assignment {
  const results = resultsById(turns);
  const used = new Set<ToolResultPart>();
  const ids = new Set<string>();
  const byTurn = turns.map((turn, at) =>
    turn.parts.filter((part) => part.kind === "tool_call").map((call) => {
      const waiting = results.get(call.callId);
      while (waiting && waiting.next < waiting.found.length && waiting.found[waiting.next]!.at < at) waiting.next++;
      const result = waiting?.found[waiting.next++]?.result ?? null;
      if (result !== null) used.add(result);
      const callId = ids.has(call.callId) ? `${call.callId}_${shortHash(`${at}.${ids.size}`, 8)}` : call.callId;
      ids.add(callId);
      return { call, callId, result };
    })
  );
  return { byTurn, used };
}

function resultsById(turns: readonly Turn[]) {
  const results = new Map<string, { found: { at: number; result: ToolResultPart }[]; next: number }>();
  turns.forEach((turn, at) => {
    for (const part of turn.parts) {
      if (part.kind !== "tool_result") continue;
      const known = results.get(part.callId) ?? { found: [], next: 0 };
      known.found.push({ at, result: part });
      results.set(part.callId, known);
    }
  });
  return results;
}

function draftFor(drafts: Draft[], role: Draft["role"]): Draft {
  const last = drafts.at(-1);
  if (last?.role === role) return last;
  const draft: Draft = { role, answers: [], parts: [], callIds: [] };
  drafts.push(draft);
  return draft;
}

function addAssistant(drafts: Draft[], parts: readonly Part[], answers: readonly Answer[]): void {
  const spoken = parts.filter((part) => part.kind !== "tool_result");
  if (spoken.length === 0) return;
  const draft = draftFor(drafts, "assistant");
  draft.parts.push(...spoken);
  draft.callIds.push(...answers.map((answer) => answer.callId));
  if (answers.length > 0) draftFor(drafts, "user").answers.push(...answers);
}

function addUser(drafts: Draft[], turn: Turn, used: ReadonlySet<ToolResultPart>, losses: Set<string>): void {
  for (const part of turn.parts) {
    if (part.kind === "tool_result") {
      if (used.has(part)) continue;
      losses.add("tool_result");
      draftFor(drafts, "user").parts.push(...asText(part));
    } else if (turn.role === "system" && part.kind === "text") {
      losses.add("system_turn");
      const text = `<system-reminder>\n${part.text}\n</system-reminder>`;
      draftFor(drafts, "user").parts.push({ kind: "text", text });
    } else {
      draftFor(drafts, "user").parts.push(part);
    }
  }
}

function asText(result: ToolResultPart): Part[] {
  const head = result.tool === null ? "[Result of a tool]" : `[Result of the tool ${result.tool}]`;
  return [{ kind: "text", text: head }, ...result.parts];
}
