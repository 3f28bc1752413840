import { appendAll } from "../../../../platform/lib/collections/append_all.ts";
import type { JsonObject } from "../../../../platform/lib/json/json_object.ts";
import type { Conversation, TextPart, ToolCallPart, Turn } from "../../../neutral/conversation.ts";
import { EMPTY_ERROR, NO_RESULT, orphanAsText, pairsOf } from "../../../parts/request/pairing.ts";
import type { PairedCall, Pairs } from "../../../parts/request/pairing.ts";
import { writeBreakpoint } from "../../../parts/request/cache_breakpoints.ts";
import { wireCallId } from "../shared/names.ts";
import { ownSignature, reasoningTurnsOf, writeReasoning } from "./write_reasoning.ts";
import { writeContent, writePart } from "./write_parts.ts";
import type { UserPart } from "./write_parts.ts";
import { toolNameFor } from "./writing.ts";
import type { Writing } from "./writing.ts";

/** The user message of a request that would otherwise have none. */
const FILLER = "Continue";

interface Messages {
  readonly list: JsonObject[];
  /** Parts of the next user message: media of tool results and of assistant turns. */
  pendingParts: JsonObject[];
  readonly pairs: Pairs;
  /** The turns whose reasoning is sent back as text. */
  readonly reasoningTurns: ReadonlySet<Turn>;
  readonly writing: Writing;
}

/** Writes instructions and turns as messages. The result of every call follows it directly. */
export function writeMessages(conversation: Conversation, writing: Writing): JsonObject[] {
  const { instructions, turns } = conversation;
  const messages: Messages = {
    list: [],
    pendingParts: [],
    pairs: pairsOf(turns, (id) => wireCallId(id, writing.target.quirks)),
    reasoningTurns: reasoningTurnsOf(turns, writing.target),
    writing,
  };
  // OpenAI's new models treat `system` like `developer`; old models and other vendors support only `system`.
  if (instructions.length > 0) addSystem(messages, instructions);
  for (const turn of turns) addTurn(messages, turn);
  flushPending(messages);
  // OpenAI accepts instructions alone; some vendors require a user message.
  const needsFiller = messages.list.every(({ role }) =>
    role === "system" && writing.target.quirks.has("needs_user_message")
  );
  if (needsFiller) messages.list.push({ role: "user", content: FILLER });
  return messages.list;
}

function addTurn(messages: Messages, turn: Turn): void {
  switch (turn.role) {
    case "system":
      return addSystem(messages, turn.parts.filter((part) => part.kind === "text"));
    case "user":
      return addUser(messages, turn);
    case "assistant":
      return addAssistant(messages, turn);
  }
}

function addSystem(messages: Messages, texts: readonly TextPart[]): void {
  const content = texts.map((part) => writePart(part, messages.writing));
  if (content.length === 0) return;
  messages.list.push({ role: "system", content: writeContent(content, messages.writing) });
}

/** Writes a user turn. Results with a call were written after it; others are written as text. */
function addUser(messages: Messages, turn: Turn): void {
  const { writing, pairs } = messages;
  for (const part of turn.parts) {
    if (part.kind === "tool_result") {
      if (!pairs.orphans.has(part)) continue;
      appendAll(messages.pendingParts, orphanAsText(part).filter(isUserPart).map((one) => writePart(one, writing)));
    } else if (isUserPart(part)) messages.pendingParts.push(writePart(part, writing));
  }
  flushPending(messages);
}

function flushPending(messages: Messages): void {
  if (messages.pendingParts.length === 0) return;
  const content = writeContent(messages.pendingParts, messages.writing);
  messages.list.push({ role: "user", content });
  messages.pendingParts = [];
}

function isUserPart(part: Turn["parts"][number]): part is UserPart {
  return part.kind !== "tool_call" && part.kind !== "tool_result" && part.kind !== "reasoning" &&
    part.kind !== "web_search";
}

function addAssistant(messages: Messages, turn: Turn): void {
  const { writing, pairs } = messages;
  const calls = turn.parts.filter((part) => part.kind === "tool_call");
  const texts = writeTexts(turn, writing);
  if (turn.parts.some(({ kind }) => kind === "web_search")) writing.droppedFields.add("web_search_call");
  const reasoning = writeReasoning(turn.parts, messages.reasoningTurns.has(turn), writing);
  const toolCalls = calls.map((call) => writeCall(call, pairs.calls.get(call)!, writing));
  if (texts.text || texts.refusal || calls.length > 0 || Object.keys(reasoning).length > 0) {
    messages.list.push({
      role: "assistant",
      // The content may be null only beside calls or a refusal.
      content: texts.text ?? (calls.length > 0 || texts.refusal ? null : ""),
      ...(texts.refusal && { refusal: texts.refusal }),
      ...reasoning,
      ...(calls.length > 0 && { tool_calls: toolCalls }),
    });
  }
  addOwnMedia(messages, turn);
  for (const call of calls) addResult(messages, call, pairs.calls.get(call)!);
}

/** Text and refusals of an assistant turn; not every vendor has a field for refusals. */
function writeTexts(turn: Turn, writing: Writing): { text: unknown; refusal: string } {
  const isText = writing.target.quirks.has("no_refusal_field");
  const texts = turn.parts.filter((part) => part.kind === "text" || (isText && part.kind === "refusal"));
  const refusals = turn.parts.filter((part) => part.kind === "refusal");
  const written = texts.map((part) => writePart(part as UserPart, writing));
  return {
    // Nothing separates two parts of what the model wrote.
    text: written.length > 0 ? writeContent(written, writing, "") : null,
    refusal: isText ? "" : refusals.map((part) => part.text).join(""),
  };
}

/** An assistant message cannot contain media: they are repeated in the next user message. */
function addOwnMedia(messages: Messages, turn: Turn): void {
  const media = turn.parts.filter((part) => isUserPart(part) && part.kind !== "text" && part.kind !== "refusal");
  if (media.length === 0) return;
  messages.writing.droppedFields.add("image");
  const written = media.map((part) => writePart(part as UserPart, messages.writing));
  messages.pendingParts.push({ type: "text", text: "From your previous answer:" }, ...written);
}

function writeCall(call: ToolCallPart, { id }: PairedCall, writing: Writing): JsonObject {
  const name = toolNameFor(writing, call.tool);
  if (call.cache) writing.droppedFields.add("cache_control");
  const signature = call.signature && ownSignature(call.signature, writing);
  const signatureFields = signature ? { extra_content: { google: { thought_signature: signature.value } } } : {};
  if (call.custom && !writing.target.quirks.has("no_custom_tools")) {
    return { id, type: "custom", custom: { name, input: call.input }, ...signatureFields };
  }
  const text = call.custom ? JSON.stringify({ input: call.input }) : call.input;
  return { id, type: "function", function: { name, arguments: text }, ...signatureFields };
}

/** Writes a tool result. It holds only text; media go to the next user message, and the text refers to them. */
function addResult(messages: Messages, call: ToolCallPart, { id, result }: PairedCall): void {
  const { writing, list } = messages;
  if (!result) {
    list.push({ role: "tool", tool_call_id: id, content: NO_RESULT });
    return;
  }
  const { droppedFields } = writing;
  const texts: JsonObject[] = [];
  const shown: JsonObject[] = [];
  for (const part of result.parts) {
    const written = writePart(part, writing);
    (written.type === "text" ? texts : shown).push(written);
  }
  if (shown.length > 0) {
    droppedFields.add("tool_result_image");
    texts.push({ type: "text", text: `(${shown.length} attached to the next user message)` });
    messages.pendingParts.push({ type: "text", text: `Attached to the result of ${call.tool} (${id}):` }, ...shown);
  }
  if (result.isError) markFailed(texts, droppedFields);
  const last = texts.at(-1);
  if (last !== undefined) {
    texts[texts.length - 1] = { ...last, ...writeBreakpoint(result.cache, writing.target, droppedFields) };
  } else if (result.cache) droppedFields.add("cache_control"); // nothing is there to be marked
  list.push({ role: "tool", tool_call_id: id, content: writeContent(texts, writing) });
}

/** Marks a failed call in the text of its result, unless it is obvious, because this format has no field for it. */
function markFailed(texts: JsonObject[], droppedFields: Set<string>): void {
  droppedFields.add("tool_error");
  const first = texts[0]?.text;
  if (typeof first === "string" && /error|fail/i.test(first.slice(0, 200))) return;
  if (typeof first === "string") texts[0] = { type: "text", text: `Error: ${first}` };
  else texts.unshift({ type: "text", text: EMPTY_ERROR });
}
