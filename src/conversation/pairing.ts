import type { Part, ToolCallPart, ToolResultPart, Turn } from "./conversation.ts";
import { freeWord } from "./legal_word.ts";

/** A call as it will be sent: its legal and unique id, and the result that answers it, null when none came. */
export interface PairedCall {
  readonly id: string;
  readonly result: ToolResultPart | null;
}

/** Every call's pair, and the results that answer no call. */
export interface Pairs {
  readonly calls: ReadonlyMap<ToolCallPart, PairedCall>;
  readonly orphans: ReadonlySet<ToolResultPart>;
}

/** What stands for the result of a call that was interrupted: every form's vendors refuse a call without one. */
export const NO_RESULT = "No result: the call was interrupted";

/**
 * Joins calls and results, wherever the results stand: a result answers a call of the latest turn that made one of its
 * id, the first without a result. A second call of one id, as weak models make it, gets an id of its own, so that no
 * result is ambiguous.
 *
 * @param legalId A call's id as the form allows it: equal ids stay equal, different ones different.
 */
export function pairsOf(turns: readonly Turn[], legalId: (id: string) => string): Pairs {
  const ids = new Map<ToolCallPart, string>();
  const results = new Map<ToolCallPart, ToolResultPart>();
  const orphans = new Set<ToolResultPart>();
  const waiting = new Map<string, { readonly turn: Turn; readonly calls: ToolCallPart[] }>();
  const taken = new Map<string, number>();
  for (const turn of turns) {
    for (const part of turn.parts) {
      if (part.kind === "tool_call") {
        ids.set(part, freeWord(part.callId, taken, legalId));
        const open = waiting.get(part.callId);
        if (open?.turn === turn) open.calls.push(part);
        else waiting.set(part.callId, { turn, calls: [part] });
      } else if (part.kind === "tool_result") {
        const call = waiting.get(part.callId)?.calls.shift();
        if (call) results.set(call, part);
        else orphans.add(part);
      }
    }
  }
  const calls = new Map([...ids].map(([call, id]) => [call, { id, result: results.get(call) ?? null }]));
  return { calls, orphans };
}

/** A result whose call is not in the conversation, as the user's own words: as a result it would be refused. */
export function orphanAsText(result: ToolResultPart): Exclude<Part, { kind: "tool_result" }>[] {
  const source = result.tool === null ? "an earlier tool call" : `an earlier call of the tool ${result.tool}`;
  return [{ kind: "text", text: `${result.isError ? "Error" : "Result"} of ${source}:` }, ...result.parts];
}
