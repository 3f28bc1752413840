import type { ToolCallPart, ToolResultPart, Turn } from "../../conversation.ts";
import { wireCallId } from "./names.ts";

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

/**
 * Joins calls and results: a result answers a call of the latest turn that made one of its id, the first without a
 * result. Ids are made legal for this form, and a second call of one id gets its own, so that no result is ambiguous.
 */
export function pairsOf(turns: readonly Turn[]): Pairs {
  const ids = new Map<ToolCallPart, string>();
  const results = new Map<ToolCallPart, ToolResultPart>();
  const orphans = new Set<ToolResultPart>();
  const waiting = new Map<string, { readonly turn: Turn; readonly calls: ToolCallPart[] }>();
  const taken = new Set<string>();
  for (const turn of turns) {
    for (const part of turn.parts) {
      if (part.kind === "tool_call") {
        ids.set(part, uniqueId(part.callId, taken));
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

function uniqueId(callId: string, taken: Set<string>): string {
  let id = wireCallId(callId);
  for (let n = 2; taken.has(id); n++) id = wireCallId(`${callId}_${n}`);
  taken.add(id);
  return id;
}
