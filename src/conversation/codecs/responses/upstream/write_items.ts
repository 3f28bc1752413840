import { appendAll } from "../../../../platform/lib/collections/append_all.ts";
import type { RequestTarget } from "../../../contract/upstream_format.ts";
import type { JsonObject } from "../../../../platform/lib/json/json_object.ts";
import type { Part, ReasoningPart, ToolCallPart, Turn } from "../../../neutral/conversation.ts";
import { CUSTOM_INPUT } from "../../../parts/request/call_input.ts";
import { NO_RESULT, orphanAsText, type Pairs, pairsOf } from "../../../parts/request/pairing.ts";
import { isIssuedBy } from "../../../neutral/reasoning_signature.ts";
import type { WebSearchPart } from "../../../neutral/web_search.ts";
import { searchItem } from "../shared/search_items.ts";
import { wireCallId } from "../shared/tools.ts";
import { annotationsOf, writeOutput, writeUserPart } from "../shared/parts.ts";

interface Writing {
  readonly input: JsonObject[];
  readonly target: RequestTarget;
  readonly droppedFields: Set<string>;
  readonly pairs: Pairs;
  nameOf(tool: string): string;
}

/**
 * Writes turns as input items. A call without a result gets one, because vendors reject it otherwise; a result without
 * a call becomes text.
 *
 * @param nameOf The vendor's name of a tool.
 */
export function writeItems(
  turns: readonly Turn[],
  target: RequestTarget,
  nameOf: (tool: string) => string,
  droppedFields: Set<string>,
): JsonObject[] {
  const writing: Writing = { input: [], target, droppedFields, pairs: pairsOf(turns, wireCallId), nameOf };
  for (const turn of turns) writeTurn(turn, writing);
  return writing.input;
}

function writeTurn(turn: Turn, writing: Writing): void {
  switch (turn.role) {
    case "system":
      return writeMessage(systemRole(writing.target), turn.parts, writing);
    case "user":
      return writeUserTurn(turn.parts, writing);
    case "assistant":
      writeAssistantTurn(turn.parts, writing);
      for (const part of turn.parts) if (part.kind === "tool_call") writeResult(part, writing);
  }
}

/** The role of instructions in the middle of the input. */
export function systemRole({ quirks }: RequestTarget): "system" | "developer" {
  return quirks.has("no_developer_role") ? "system" : "developer";
}

function writeUserTurn(parts: readonly Part[], writing: Writing): void {
  const contents = parts.flatMap((part): readonly Part[] => {
    if (part.kind !== "tool_result") return [part];
    return writing.pairs.orphans.has(part) ? orphanAsText(part) : [];
  });
  writeMessage("user", contents, writing);
}

function writeMessage(
  role: "user" | "developer" | "system",
  parts: readonly Part[],
  { input, target, droppedFields }: Writing,
): void {
  const content = parts.flatMap((part) => writeUserPart(part, target, droppedFields) ?? []);
  if (content.length > 0) input.push({ type: "message", role, content });
}

function writeResult(call: ToolCallPart, { input, target, droppedFields, pairs }: Writing): void {
  const { id, result } = pairs.calls.get(call)!;
  const isCustom = call.custom === true && !target.quirks.has("no_custom_tools");
  const type = isCustom ? "custom_tool_call_output" : "function_call_output";
  const output = result === null ? NO_RESULT : writeOutput(result, target, droppedFields);
  input.push({ type, call_id: id, output });
}

/**
 * Writes an assistant turn. Adjacent text and refusals form one message. Reasoning items are written before the next
 * item: vendors reject them at the end of a turn. Source: Responses API, "reasoning was provided without its required
 * following item".
 */
function writeAssistantTurn(parts: readonly Part[], writing: Writing): void {
  let reasoningItems: JsonObject[] = [];
  let message: JsonObject[] | null = null;
  const push = (item: JsonObject) => {
    appendAll(writing.input, reasoningItems);
    writing.input.push(item);
    reasoningItems = [];
  };
  for (const part of parts) {
    if (part.kind === "text" || part.kind === "refusal") {
      if (message === null) push({ type: "message", role: "assistant", content: message = [] });
      message.push(writeContentPart(part, writing.droppedFields));
      continue;
    }
    message = null;
    if (part.kind === "web_search") {
      const search = writeSearch(part, writing);
      if (search) push(search);
      continue;
    }
    if (part.kind === "reasoning") appendAll(reasoningItems, writeReasoning(part, writing));
    else if (part.kind === "tool_call") push(writeCall(part, writing));
    else writing.droppedFields.add(part.kind === "tool_result" ? "turn_order" : part.kind);
  }
  if (reasoningItems.length > 0) writing.droppedFields.add("reasoning_signature");
}

function writeContentPart(part: Extract<Part, { kind: "text" | "refusal" }>, droppedFields: Set<string>): JsonObject {
  if (part.kind === "refusal") return { type: "refusal", refusal: part.text };
  if (part.signature) droppedFields.add("reasoning_signature");
  if (part.cache) droppedFields.add("cache_control");
  if (part.citations?.some(({ citedText }) => citedText !== undefined)) droppedFields.add("cited_text");
  if (part.citations?.some(({ signature }) => signature !== undefined)) droppedFields.add("citation_mark");
  return { type: "output_text", text: part.text, annotations: annotationsOf(part.text, part.citations) };
}

/**
 * Writes a search for the vendor that ran it. Its id is left out, because nothing is stored, and its pages, because the
 * vendor does not need them.
 */
function writeSearch(part: WebSearchPart, { target, droppedFields }: Writing): JsonObject | null {
  if (isIssuedBy(part.origin, "responses", target.provider) && !target.quirks.has("no_web_search")) {
    const { id: _, ...item } = searchItem("", { ...part, results: null });
    return item;
  }
  droppedFields.add("web_search_call");
  return null;
}

/** Writes a reasoning item without its id, because responses are not stored and the signature holds everything. */
function writeReasoning(part: ReasoningPart, { target, droppedFields }: Writing): JsonObject[] {
  if (!part.signature || !isIssuedBy(part.signature, "responses", target.provider)) {
    if (part.signature) droppedFields.add("reasoning_signature");
    if (part.text !== "") droppedFields.add("reasoning_text");
    return [];
  }
  const summary = part.text === "" ? [] : [{ type: "summary_text", text: part.text }];
  return [{ type: "reasoning", summary, encrypted_content: part.signature.value }];
}

function writeCall(call: ToolCallPart, { target, droppedFields, pairs, nameOf }: Writing): JsonObject {
  if (call.signature) droppedFields.add("reasoning_signature");
  if (call.cache) droppedFields.add("cache_control");
  const { id } = pairs.calls.get(call)!;
  const name = nameOf(call.tool);
  if (call.custom && target.quirks.has("no_custom_tools")) {
    return { type: "function_call", call_id: id, name, arguments: JSON.stringify({ [CUSTOM_INPUT]: call.input }) };
  }
  if (call.custom) return { type: "custom_tool_call", call_id: id, name, input: call.input };
  return { type: "function_call", call_id: id, name, arguments: call.input || "{}" };
}
