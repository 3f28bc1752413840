import type { Part, ToolCallPart, ToolResultPart, Turn } from "../../neutral/conversation.ts";
import { uniqueName } from "./sanitized_name.ts";
import { InOrder } from "../../../platform/lib/collections/in_order.ts";

/** A call as sent to the vendor: its sanitized, unique id and its result; null when the call has none. */
export interface PairedCall {
  readonly id: string;
  readonly result: ToolResultPart | null;
}

/** All calls with their results, and the results without a call. */
export interface Pairs {
  readonly calls: ReadonlyMap<ToolCallPart, PairedCall>;
  readonly orphans: ReadonlySet<ToolResultPart>;
}

/** The result of a call that was interrupted. Vendors of every format reject a call without a result. */
export const NO_RESULT = "No result: the call was interrupted";

/** The result of a call that failed without one. Vendors reject an error without text. */
export const EMPTY_ERROR = "Error: the tool failed without a message.";

/**
 * Matches tool results to calls by id, wherever the results are. A result belongs to the latest turn with a call of its
 * id, and there to the first call without a result. A repeated id, which weak models produce, is made unique, so that
 * no result is ambiguous.
 *
 * @param sanitizeId Spells a call's id for the format; equal ids stay equal, different ones different.
 */
export function pairsOf(turns: readonly Turn[], sanitizeId: (id: string) => string): Pairs {
  if (!turns.some(({ parts }) => parts.some(isCallOrResult))) return NO_PAIRS;
  const ids = new Map<ToolCallPart, string>();
  const results = new Map<ToolCallPart, ToolResultPart>();
  const orphans = new Set<ToolResultPart>();
  const openCalls = new Map<string, { readonly turn: Turn; readonly calls: InOrder<ToolCallPart> }>();
  const taken = new Map<string, number>();
  for (const turn of turns) {
    for (const part of turn.parts) {
      if (part.kind === "tool_call") {
        ids.set(part, uniqueName(part.callId, taken, sanitizeId));
        const open = openCalls.get(part.callId);
        if (open?.turn === turn) open.calls.add(part);
        else openCalls.set(part.callId, { turn, calls: new InOrder(part) });
      } else if (part.kind === "tool_result") {
        const call = openCalls.get(part.callId)?.calls.take();
        if (call) results.set(call, part);
        else orphans.add(part);
      }
    }
  }
  const calls = new Map([...ids].map(([call, id]) => [call, { id, result: results.get(call) ?? null }]));
  return { calls, orphans };
}

/** Of most conversations. Empty maps cost each request a kilobyte of garbage. */
const NO_PAIRS: Pairs = { calls: new Map(), orphans: new Set() };

function isCallOrResult({ kind }: Part): boolean {
  return kind === "tool_call" || kind === "tool_result";
}

/** A result without a call, as text of the user: vendors reject it as a tool result. */
export function orphanAsText(result: ToolResultPart): Exclude<Part, { kind: "tool_result" }>[] {
  const source = result.tool === null ? "an earlier tool call" : `an earlier call of the tool ${result.tool}`;
  return [{ kind: "text", text: `${result.isError ? "Error" : "Result"} of ${source}:` }, ...result.parts];
}
