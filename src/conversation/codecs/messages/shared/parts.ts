import type { JsonObject } from "../../../../platform/lib/json/json_object.ts";
import type { TextPart, ToolCallPart } from "../../../neutral/conversation.ts";
import type { ReplyPart } from "../../../neutral/reply.ts";
import { textOrNull } from "../../../neutral/wire_value.ts";
import { readCache } from "./fields.ts";
import { inputOf } from "../../../parts/request/call_input.ts";
import { isSearchCall, readCitations, readSearch } from "./search_blocks.ts";
import { readCallerSignature, signatureField, type SignatureReader } from "./signatures.ts";

/**
 * Reads a block of the model, in a reply or in the history of a request. Null for an empty block, for search results,
 * for other tools run by the vendor and for unknown kinds; {@linkcode isSkipped} distinguishes them.
 *
 * @param found The results of searches, by the ids of their calls.
 */
export function readAssistantBlock(
  block: JsonObject,
  readSignature: SignatureReader,
  found: ReadonlyMap<unknown, JsonObject>,
): ReplyPart | null {
  switch (block.type) {
    case "text":
      return readText(block, readSignature);
    case "thinking": {
      const text = textOrNull(block.thinking) ?? "";
      const signature = signatureField(block.signature, readSignature);
      return text === "" && !signature.signature ? null : { kind: "reasoning", text, ...signature };
    }
    case "redacted_thinking": {
      const signature = signatureField(block.data, readSignature);
      return signature.signature ? { kind: "reasoning", text: "", redacted: true, ...signature } : null;
    }
    case "tool_use":
      return readCall(block);
    case "server_tool_use":
      return isSearchCall(block) ? readSearch(block, null, found.get(block.id), readSignature) : null;
    default:
      return null;
  }
}

/** True for a block with content that has no neutral form. */
export function isSkipped(block: JsonObject): boolean {
  return block.type !== "text" && block.type !== "thinking" && block.type !== "redacted_thinking" &&
    block.type !== "tool_use" && block.type !== "web_search_tool_result" && !isSearchCall(block);
}

/** Reads a text block; null when it is empty. */
export function readText(block: JsonObject, readSignature: SignatureReader = readCallerSignature): TextPart | null {
  const text = textOrNull(block.text);
  if (!text) return null;
  const citations = readCitations(block.citations, text.length, readSignature);
  return { kind: "text", text, ...readCache(block), ...(citations.length > 0 ? { citations } : {}) };
}

function readCall(block: JsonObject): ToolCallPart {
  return {
    kind: "tool_call",
    callId: textOrNull(block.id) ?? "",
    tool: textOrNull(block.name) ?? "",
    input: inputOf(block.input),
    ...readCache(block),
  };
}
