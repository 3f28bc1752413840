import { appendAll } from "../../../../platform/lib/collections/append_all.ts";
import type { RequestTarget } from "../../../contract/upstream_format.ts";
import type { JsonObject } from "../../../../platform/lib/json/json_object.ts";
import type { Conversation, Part, ReasoningPart, TextPart, ToolCallPart } from "../../../neutral/conversation.ts";
import { NO_RESULT } from "../../../parts/request/pairing.ts";
import { argumentsOf } from "../../../parts/request/call_input.ts";
import { wireToolName } from "../shared/calls.ts";
import { type CallResponse, type Draft, draftsOf } from "./drafts.ts";
import { writeMedia } from "../shared/parts.ts";
import { PLACEHOLDER_SIGNATURE, signatureFor } from "../shared/signatures.ts";
import { writeResult } from "../shared/tool_results.ts";

/** The target, and the dropped fields. */
interface Writing {
  readonly target: RequestTarget;
  readonly droppedFields: Set<string>;
}

/**
 * Writes the `contents` of a conversation's turns.
 *
 * @throws {GatewayError} `invalid_request` for media by URL that were not fetched.
 */
export function writeContents(
  conversation: Conversation,
  target: RequestTarget,
  droppedFields: Set<string>,
): JsonObject[] {
  const writing = { target, droppedFields };
  const contents: JsonObject[] = [];
  for (const draft of draftsOf(conversation.turns, droppedFields)) {
    const parts = draft.role === "user" ? writeUser(draft, writing) : writeModel(draft, writing);
    if (parts.length > 0) append(contents, draft.role === "user" ? "user" : "model", parts);
  }
  // The first content must be the user's; instructions alone, or a model content, are not enough.
  if (contents[0]?.role !== "user") {
    contents.unshift({ role: "user", parts: [{ text: "Continue" }] });
    droppedFields.add("turn_order");
  }
  return contents;
}

/** Adds a content, or appends it to the last one of the same role, because empty contents were left out. */
function append(contents: JsonObject[], role: string, parts: JsonObject[]): void {
  const last = contents.at(-1);
  if (last?.role === role) last.parts = [...last.parts as JsonObject[], ...parts];
  else contents.push({ role, parts });
}

function writeUser(draft: Draft, writing: Writing): JsonObject[] {
  const answers: JsonObject[] = [];
  const after: JsonObject[] = [];
  for (const answer of draft.responses) answers.push(writeResponse(answer, after, writing));
  return [...answers, ...after, ...draft.parts.flatMap((part) => writePlain(part, writing))];
}

function writeResponse({ call, id, result }: CallResponse, after: JsonObject[], writing: Writing): JsonObject {
  if (result?.cache || result?.parts.some(({ cache }) => cache)) writing.droppedFields.add("cache_control");
  const written = result === null
    ? { response: { error: NO_RESULT }, inside: [], after: [] }
    : writeResult(result, supportsMediaInResults(writing.target));
  if (result?.parts.some((part) => part.kind === "text" && part.citations)) writing.droppedFields.add("citations");
  if (result?.parts.some((part) => part.kind === "file" && part.name !== null)) writing.droppedFields.add("file_name");
  if (written.after.length > 0) writing.droppedFields.add("tool_result_image");
  appendAll(after, written.after);
  const functionResponse: JsonObject = { name: wireToolName(call.tool), response: written.response };
  if (!writing.target.quirks.has("no_call_ids")) functionResponse.id = id;
  if (written.inside.length > 0) functionResponse.parts = written.inside;
  return { functionResponse };
}

function supportsMediaInResults({ facts, quirks }: RequestTarget): boolean {
  return facts.hasMediaInToolResults === true && !quirks.has("no_media_in_tool_results");
}

function writeModel(draft: Draft, writing: Writing): JsonObject[] {
  const parts: JsonObject[] = [];
  let calls = 0;
  for (const part of draft.parts) {
    if (part.kind === "tool_call") {
      parts.push(writeCall(part, draft.callIds[calls] ?? part.callId, calls++ === 0, writing));
    } else if (part.kind === "reasoning") appendAll(parts, writeReasoning(part, writing));
    else appendAll(parts, writePlain(part, writing));
  }
  // A content with only unsigned reasoning counts as empty.
  if (parts.every((part) => part.thought === true && part.thoughtSignature === undefined)) {
    if (parts.length > 0) writing.droppedFields.add("reasoning_text");
    return [];
  }
  return parts;
}

/**
 * Writes a call. The vendor rejects a step whose first call has no signature, so that call gets a placeholder if its
 * own is missing or another provider's. Later calls of the same step have no signature and must not get one.
 */
function writeCall(call: ToolCallPart, callId: string, isFirst: boolean, writing: Writing): JsonObject {
  const { target, droppedFields } = writing;
  if (call.cache) droppedFields.add("cache_control");
  const functionCall: JsonObject = {
    name: wireToolName(call.tool),
    args: argumentsOf(call),
  };
  if (!target.quirks.has("no_call_ids")) functionCall.id = callId;
  const signature = signatureFor(call.signature, target.provider);
  if (call.signature && signature === null) droppedFields.add("reasoning_signature");
  if (signature !== null) return { functionCall, thoughtSignature: signature };
  const needsPlaceholder = isFirst && !target.quirks.has("no_signature_placeholder");
  return needsPlaceholder ? { functionCall, thoughtSignature: PLACEHOLDER_SIGNATURE } : { functionCall };
}

/** Writes reasoning. That of another provider is sent without its signature; redacted reasoning is left out. */
function writeReasoning(part: ReasoningPart, writing: Writing): JsonObject[] {
  const signature = signatureFor(part.signature, writing.target.provider);
  if (part.signature && signature === null) writing.droppedFields.add("reasoning_signature");
  if (signature !== null) return [{ text: part.text, thought: true, thoughtSignature: signature }];
  return part.text === "" || part.redacted ? [] : [{ text: part.text, thought: true }];
}

function writePlain(part: Part, writing: Writing): JsonObject[] {
  const { droppedFields } = writing;
  switch (part.kind) {
    case "text":
      return writeText(part, writing);
    case "refusal":
      droppedFields.add("refusal");
      return part.text === "" ? [] : [{ text: part.text }];
    case "image":
    case "file":
      if (part.cache) droppedFields.add("cache_control");
      if (part.kind === "file" && part.name !== null) droppedFields.add("file_name");
      return [writeMedia(part)];
    case "audio":
    case "video":
      return [writeMedia(part)];
    case "web_search":
      droppedFields.add("web_search_call"); // this format has no part for search results
      return [];
    default:
      return [];
  }
}

function writeText(part: TextPart, { target, droppedFields }: Writing): JsonObject[] {
  if (part.cache) droppedFields.add("cache_control");
  if (part.citations?.length) droppedFields.add("citations");
  const signature = signatureFor(part.signature, target.provider);
  if (part.signature && signature === null) droppedFields.add("reasoning_signature");
  if (part.text === "") return [];
  return [signature === null ? { text: part.text } : { text: part.text, thoughtSignature: signature }];
}
