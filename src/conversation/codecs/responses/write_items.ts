import type { JsonObject, RequestTarget } from "../../codec.ts";
import type { Part, ReasoningPart, ToolCallPart, ToolResultPart, Turn } from "../../conversation.ts";
import type { Seal } from "../../seal.ts";
import { type CallIds, newCallIds } from "./call_ids.ts";
import { annotationsOf, writeOutput, writeUserPart } from "./parts.ts";

interface Writing {
  readonly input: JsonObject[];
  readonly target: RequestTarget;
  readonly losses: Set<string>;
  readonly ids: CallIds;
  /** Wire ids of calls of custom tools, whose results are items of another kind. */
  readonly customIds: Set<string>;
  nameOf(tool: string): string;
}

/**
 * Turns as input items. Every call gets a result, made where the conversation has none, since a request with an
 * unanswered call is refused; a result without its call becomes text.
 *
 * @param nameOf The vendor's name of a tool.
 */
export function writeItems(
  turns: readonly Turn[],
  target: RequestTarget,
  nameOf: (tool: string) => string,
  losses: Set<string>,
): JsonObject[] {
  const writing: Writing = { input: [], target, losses, ids: newCallIds(), customIds: new Set(), nameOf };
  for (const turn of turns) writeTurn(turn, writing);
  answerOpenCalls(writing);
  return writing.input;
}

function writeTurn(turn: Turn, writing: Writing): void {
  switch (turn.role) {
    case "system":
      return writeMessage(writing.target.compatible ? "system" : "developer", turn.parts, writing);
    case "user":
      return writeUserTurn(turn.parts, writing);
    case "assistant":
      answerOpenCalls(writing);
      return writeAssistantTurn(turn.parts, writing);
  }
}

function writeUserTurn(parts: readonly Part[], writing: Writing): void {
  const rest: Part[] = [];
  for (const part of parts) {
    if (part.kind !== "tool_result") rest.push(part);
    else if (!writeResult(part, writing)) rest.push(...orphanText(part));
  }
  answerOpenCalls(writing);
  writeMessage("user", rest, writing);
}

function writeMessage(role: "user" | "developer" | "system", parts: readonly Part[], { input, losses }: Writing): void {
  const content = parts.flatMap((part) => writeUserPart(part, losses) ?? []);
  if (content.length > 0) input.push({ type: "message", role, content });
}

function writeResult(result: ToolResultPart, { input, target, losses, ids, customIds }: Writing): boolean {
  const callId = ids.answer(result.callId);
  if (callId === null) return false;
  const type = customIds.has(callId) ? "custom_tool_call_output" : "function_call_output";
  input.push({ type, call_id: callId, output: writeOutput(result, target.compatible, losses) });
  return true;
}

function orphanText(result: ToolResultPart): Part[] {
  const name = result.tool === null ? "a tool" : `the tool "${result.tool}"`;
  return [{ kind: "text", text: `Result of ${name}:` }, ...result.parts];
}

function answerOpenCalls({ input, ids, customIds }: Writing): void {
  for (const callId of ids.takeOpen()) {
    const type = customIds.has(callId) ? "custom_tool_call_output" : "function_call_output";
    input.push({ type, call_id: callId, output: "No result: the call was interrupted" });
  }
}

/**
 * Text and refusals that stand together are one message. A reasoning item waits for the item that follows it: alone at
 * the end of a turn it would be refused. Source: Responses API, "reasoning was provided without its required following
 * item".
 */
function writeAssistantTurn(parts: readonly Part[], writing: Writing): void {
  let thoughts: JsonObject[] = [];
  let message: JsonObject[] | null = null;
  const push = (item: JsonObject) => {
    writing.input.push(...thoughts, item);
    thoughts = [];
  };
  for (const part of parts) {
    if (part.kind === "text" || part.kind === "refusal") {
      if (message === null) push({ type: "message", role: "assistant", content: message = [] });
      message.push(writeSaid(part, writing.losses));
      continue;
    }
    message = null;
    if (part.kind === "reasoning") thoughts.push(...writeReasoning(part, writing));
    else if (part.kind === "tool_call") push(writeCall(part, writing));
    else writing.losses.add(part.kind === "tool_result" ? "turn_order" : part.kind);
  }
  if (thoughts.length > 0) writing.losses.add("reasoning_signature");
}

function writeSaid(part: Extract<Part, { kind: "text" | "refusal" }>, losses: Set<string>): JsonObject {
  if (part.kind === "refusal") return { type: "refusal", refusal: part.text };
  if (part.seal) losses.add("reasoning_signature");
  if (part.cache) losses.add("cache_control");
  return { type: "output_text", text: part.text, annotations: annotationsOf(part.text, part.citations) };
}

/** The id is left out: without stored responses it names nothing, and the proof says all. */
function writeReasoning(part: ReasoningPart, { target, losses }: Writing): JsonObject[] {
  if (!part.seal || !isIssuedBy(part.seal, target)) {
    if (part.seal) losses.add("reasoning_signature");
    if (part.text !== "") losses.add("reasoning_text");
    return [];
  }
  const summary = part.text === "" ? [] : [{ type: "summary_text", text: part.text }];
  return [{ type: "reasoning", summary, encrypted_content: part.seal.value }];
}

function isIssuedBy(seal: Seal, target: RequestTarget): boolean {
  return seal.form === "responses" && (seal.issuer === null || seal.issuer === target.provider);
}

function writeCall(call: ToolCallPart, { losses, ids, customIds, nameOf }: Writing): JsonObject {
  if (call.seal) losses.add("reasoning_signature");
  if (call.cache) losses.add("cache_control");
  const callId = ids.open(call.callId);
  const name = nameOf(call.tool);
  if (!call.custom) return { type: "function_call", call_id: callId, name, arguments: call.input || "{}" };
  customIds.add(callId);
  return { type: "custom_tool_call", call_id: callId, name, input: call.input };
}
