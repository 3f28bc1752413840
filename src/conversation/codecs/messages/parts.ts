import type { JsonObject } from "../../codec.ts";
import type { Citation, TextPart, ToolCallPart } from "../../conversation.ts";
import type { ReplyPart } from "../../reply.ts";
import { isObject, readCache, textOrNull } from "./fields.ts";
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
    input: JSON.stringify(isObject(block.input) ? block.input : {}),
    ...readCache(block),
  };
}

/** The web sources among a block's citations. They rest on the whole block: this form gives no offsets. */
function readCitations(value: unknown): Citation[] {
  if (!Array.isArray(value)) return [];
  return value.filter((citation) => isObject(citation) && typeof citation.url === "string")
    .map(({ url, title }) => ({ url, title: textOrNull(title), start: null, end: null }));
}

/** The arguments of a call as the object that this form demands: text that is none is kept under `_raw`. */
export function inputObjectOf(call: ToolCallPart): JsonObject {
  if (call.custom) return { input: call.input };
  try {
    const input: unknown = JSON.parse(call.input || "{}");
    if (isObject(input)) return input;
  } catch {
    // Kept as text below: a model's broken JSON is no reason to refuse the conversation.
  }
  return { _raw: call.input };
}
