import type { JsonObject } from "../../../../lib/json_object.ts";
import type { Citation, TextPart, ToolCallPart } from "../../../conversation.ts";
import type { ReplyPart } from "../../../reply.ts";
import { isObject, textOrNull } from "../../../wire_value.ts";
import { readCache } from "./fields.ts";
import { inputOf } from "../../../call_input.ts";
import { sealOf, type SealReading } from "./seals.ts";

/**
 * A block that the model spoke, in a reply or in the history of a request. Null for one without content and for the
 * vendor's own tools, their results and kinds unknown here; {@linkcode isSkipped} tells the two apart.
 */
export function readSpoken(block: JsonObject, readSeal: SealReading): ReplyPart | null {
  switch (block.type) {
    case "text":
      return readText(block);
    case "thinking": {
      const text = textOrNull(block.thinking) ?? "";
      const seal = sealOf(block.signature, readSeal);
      return text === "" && !seal.seal ? null : { kind: "reasoning", text, ...seal };
    }
    case "redacted_thinking": {
      const seal = sealOf(block.data, readSeal);
      return seal.seal ? { kind: "reasoning", text: "", redacted: true, ...seal } : null;
    }
    case "tool_use":
      return readCall(block);
    default:
      return null;
  }
}

/** True for a block that holds something the neutral words do not. */
export function isSkipped(block: JsonObject): boolean {
  return block.type !== "text" && block.type !== "thinking" && block.type !== "redacted_thinking" &&
    block.type !== "tool_use";
}

/** A text block; null when it is empty. */
export function readText(block: JsonObject): TextPart | null {
  const text = textOrNull(block.text);
  if (!text) return null;
  const citations = readCitations(block.citations);
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

/** The web sources among a block's citations. They rest on the whole block: this form gives no offsets. */
export function readCitations(value: unknown): Citation[] {
  if (!Array.isArray(value)) return [];
  return value.filter((citation) => isObject(citation) && typeof citation.url === "string")
    .map(({ url, title }) => ({ url, title: textOrNull(title), start: null, end: null }));
}
