import type { Part, ToolCallPart, ToolResultPart } from "../../conversation.ts";
import type { Names } from "./fields.ts";
import type { SpokenTurn } from "./repair_turns.ts";
import { wireCallId } from "./tools.ts";

/** What stands for a result that never came. */
const NO_RESULT = "No result was recorded for this call.";

/**
 * Every call answered in the very next turn, results first there, ids legal and used once. A missing result becomes an
 * error, one without its call becomes text.
 *
 * @param turns User and assistant by turns.
 */
export function pairCalls(turns: readonly SpokenTurn[], losses: Names): SpokenTurn[] {
  const paired: SpokenTurn[] = [];
  const taken = new Set<string>();
  let open = new Map<string, string[]>();
  for (const turn of turns) {
    if (turn.role === "user") {
      paired.push({ role: "user", parts: answered(turn.parts, open, losses) });
      open = new Map();
      continue;
    }
    open = new Map();
    paired.push({ role: "assistant", parts: turn.parts.map((part) => renamed(part, open, taken)) });
  }
  if (open.size > 0) paired.push({ role: "user", parts: answered([], open, losses) });
  return paired;
}

/** The call under a legal id of its own, noted as waiting for its result. */
function renamed(part: Part, open: Map<string, string[]>, taken: Set<string>): Part {
  if (part.kind !== "tool_call") return part;
  const callId = freeId(part, taken);
  taken.add(callId);
  const waiting = open.get(part.callId);
  if (waiting) waiting.push(callId);
  else open.set(part.callId, [callId]);
  return { ...part, callId };
}

function freeId({ callId }: ToolCallPart, taken: ReadonlySet<string>): string {
  const id = wireCallId(callId);
  if (!taken.has(id)) return id;
  let number = 2;
  while (taken.has(wireCallId(`${id}_${number}`))) number++;
  return wireCallId(`${id}_${number}`);
}

function answered(parts: readonly Part[], open: Map<string, string[]>, losses: Names): Part[] {
  const results: Part[] = [];
  const others: Part[] = [];
  for (const part of parts) {
    const callId = part.kind === "tool_result" ? open.get(part.callId)?.shift() : undefined;
    if (part.kind !== "tool_result") others.push(part);
    else if (callId !== undefined) results.push({ ...part, callId });
    else others.push(...orphanOf(part, losses));
  }
  for (const callId of [...open.values()].flat()) {
    losses.add("turn_order");
    const parts = [{ kind: "text" as const, text: NO_RESULT }];
    results.push({ kind: "tool_result", callId, tool: null, parts, isError: true });
  }
  return [...results, ...others];
}

function orphanOf(result: ToolResultPart, losses: Names): Part[] {
  losses.add("turn_order");
  const of = result.tool === null ? "a tool" : `the tool ${result.tool}`;
  return [{ kind: "text", text: result.isError ? `Error of ${of}:` : `Result of ${of}:` }, ...result.parts];
}
