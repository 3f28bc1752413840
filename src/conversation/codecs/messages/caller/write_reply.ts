import type { JsonObject } from "../../../../platform/lib/json/json_object.ts";
import type { ReplyContext } from "../../../contract/caller_format.ts";
import type { WriteResult } from "../../../neutral/write_result.ts";
import type { Citation, ReasoningPart, ToolCallPart } from "../../../neutral/conversation.ts";
import type { Reply, ReplyPart } from "../../../neutral/reply.ts";
import { type ReasoningSignature, writeSignature } from "../../../neutral/reasoning_signature.ts";
import { searchesFirst } from "../../../parts/reply/search_order.ts";
import type { FieldNames } from "../shared/fields.ts";
import { argumentsOf, isWrappedInput } from "../../../parts/request/call_input.ts";
import { searchBlocks, writeCitations } from "../shared/search_blocks.ts";
import { UNSIGNED, writeCarriedSignature } from "../shared/signatures.ts";
import { writeStop } from "../shared/stop.ts";
import { writeUsage } from "../shared/usage.ts";

/** Writes a whole reply. */
export function writeReply(reply: Reply, context: ReplyContext): WriteResult<JsonObject> {
  const droppedFields: FieldNames = new Set();
  const parts = searchesFirst(wholeParts(reply, droppedFields));
  const contents = {
    hasToolCall: parts.some((part) => part.kind === "tool_call"),
    hasRefusal: parts.some((part) => part.kind === "refusal"),
  };
  const body = {
    id: messageIdFor(reply.id, context),
    type: "message",
    role: "assistant",
    model: context.model,
    content: withoutLastSignatures(parts.flatMap((part) => writePart(part, context, droppedFields))),
    ...writeStop(reply.stop, contents),
    usage: writeUsage(reply.usage),
  };
  return { body, droppedFields: [...droppedFields] };
}

/** The vendor's id if it has this format, otherwise one made from the request id. */
export function messageIdFor(id: string, { requestId }: ReplyContext): string {
  return id.startsWith("msg_") ? id : `msg_${requestId.replace(/^req_/, "")}`;
}

/** The parts without a last call whose arguments were cut off by a limit. */
function wholeParts({ parts, stop }: Reply, droppedFields: FieldNames): readonly ReplyPart[] {
  const last = parts.at(-1);
  const isLimit = stop.reason === "max_tokens" || stop.reason === "context_full";
  if (!isLimit || last?.kind !== "tool_call" || last.custom || !isWrappedInput(argumentsOf(last))) return parts;
  droppedFields.add("tool_call");
  return parts.slice(0, -1);
}

function writePart(part: ReplyPart, context: ReplyContext, droppedFields: FieldNames): JsonObject[] {
  switch (part.kind) {
    case "text":
      if (part.logprobs) droppedFields.add("logprobs");
      return [
        ...textBlocks(part.text, part.citations),
        ...(part.signature && returnsTextSignatures(context) ? [textSignatureBlock(part.signature)] : []),
      ];
    case "refusal":
      return textBlocks(part.text);
    case "reasoning":
      return reasoningBlocks(part);
    case "tool_call":
      return [...(part.signature ? [callSignatureBlock(part.signature, part.callId, true)] : []), callBlock(part)];
    case "web_search":
      return searchBlocks(part);
    case "image":
      droppedFields.add("image");
      return [];
  }
}

/** The blocks of a text. Empty text is left out, because vendors reject it when clients send it back. */
function textBlocks(text: string, citations: readonly Citation[] = []): JsonObject[] {
  if (text === "") return [];
  return [{ type: "text", text, ...(citations.length > 0 ? { citations: writeCitations(citations) } : {}) }];
}

/**
 * Removes signature blocks at the end, because clients treat the last block as the answer. The gateway stores their
 * contents.
 */
function withoutLastSignatures(blocks: JsonObject[]): JsonObject[] {
  return blocks.slice(0, blocks.findLastIndex((block) => !isSignature(block)) + 1);
}

function isSignature(block: JsonObject): boolean {
  return block.type === "redacted_thinking" || (block.type === "thinking" && block.thinking === "");
}

/** The block of a reasoning part; none when it has neither text nor signature. */
export function reasoningBlocks({ text, signature, redacted }: Omit<ReasoningPart, "kind">): JsonObject[] {
  if (redacted) return signature ? [{ type: "redacted_thinking", data: writeSignature(signature, "messages") }] : [];
  return text === "" && !signature ? [] : [{ type: "thinking", thinking: text, signature: signatureOf(signature) }];
}

/** The value of the field `signature`. */
export function signatureOf(signature: ReasoningSignature | undefined): string {
  return signature ? writeSignature(signature, "messages") : UNSIGNED;
}

function callBlock(call: ToolCallPart): JsonObject {
  return { type: "tool_use", id: call.callId, name: call.tool, input: argumentsOf(call) };
}

/** The block that holds the signature of a call. */
export function callSignatureBlock(signature: ReasoningSignature, callId: string, isBeforeCall: boolean): JsonObject {
  return carrier(writeCarriedSignature(signature, { kind: "call", callId }, isBeforeCall));
}

/** The block that holds the signature of the text before it. */
export function textSignatureBlock(signature: ReasoningSignature): JsonObject {
  return carrier(writeCarriedSignature(signature, { kind: "text" }, false));
}

function carrier(signature: string): JsonObject {
  return { type: "thinking", thinking: "", signature };
}

/**
 * True when the caller requested thinking. Only then are signatures of text returned: vendors can continue without
 * them, and other callers expect no thinking blocks. Signatures of calls are always returned.
 */
export function returnsTextSignatures({ conversation }: ReplyContext): boolean {
  return conversation !== null && conversation.reasoning !== null && conversation.reasoning.effort !== "none";
}
