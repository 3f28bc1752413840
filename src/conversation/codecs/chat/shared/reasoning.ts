import type { JsonObject } from "../../../../lib/json_object.ts";
import type { ReasoningPart } from "../../../conversation.ts";
import { readSeal, WRAPPED_SEAL_PREFIX, writeSeal } from "../../../seal.ts";
import type { Seal } from "../../../seal.ts";
import { listOf, objectOf, textOf } from "../../../wire_value.ts";

/**
 * Thoughts in the dialects of this form, whose author shows none: `reasoning_content`, `reasoning`, and
 * `reasoning_details`, a list of `{type: "reasoning.text" | "reasoning.summary" | "reasoning.encrypted", text | summary
 * | data, signature, id, format, index}` that its vendor wants back unchanged. A detail of such a vendor is kept whole
 * as the value of a seal of this form (JSON text without the thought); a seal of another form travels as the
 * detail's `signature` or `data`.
 */
export type ReasoningDetail = JsonObject;

/** Between two thoughts of one answer where they are shown as one. */
export const THOUGHT_BREAK = "\n\n";

const SEALED_FIELDS = ["signature", "data"] as const;
const TEXT_FIELDS = ["text", "summary"] as const;

/** The thoughts of a message or a delta as plain text, empty if none; `reasoning_details` aside. */
export function plainThoughtOf(message: JsonObject): string {
  return textOf(message.reasoning_content) || textOf(message.reasoning);
}

/** The thoughts of a whole message, in order. */
export function readReasoning(message: JsonObject): ReasoningPart[] {
  const parts: ReasoningPart[] = [];
  for (const entry of listOf(message.reasoning_details)) {
    const detail = objectOf(entry);
    const part = detail && readDetail(detail);
    if (part) parts.push(part);
  }
  const plain = plainThoughtOf(message);
  if (plain === "" || parts.some((part) => part.text !== "")) return parts;
  // The details hold proofs alone: the text belongs to the first that is not hidden.
  const first = parts.findIndex((part) => !part.redacted);
  if (first < 0) parts.unshift({ kind: "reasoning", text: plain });
  else parts[first] = { ...parts[first]!, text: plain };
  return parts;
}

/** One detail; null when it says nothing. */
export function readDetail(detail: ReasoningDetail): ReasoningPart | null {
  const text = textOf(detail.text) || textOf(detail.summary);
  const sealed = textOf(detail.signature) || textOf(detail.data);
  if (text === "" && sealed === "") return null;
  const wrapped = sealed.startsWith(WRAPPED_SEAL_PREFIX);
  return {
    kind: "reasoning",
    text,
    ...(sealed && { seal: wrapped ? readSeal(sealed, "chat") : bareSealOf(detail) }),
    ...(detail.type === "reasoning.encrypted" && { redacted: true }),
    ...(wrapped && textOf(detail.id) && { id: textOf(detail.id) }),
  };
}

/** The detail that carries a sealed thought. Its inverse is {@linkcode readDetail}. */
export function writeDetail(part: ReasoningPart & { readonly seal: Seal }, index: number): ReasoningDetail {
  const { seal, text, redacted, id } = part;
  const kept = seal.form === "chat" && seal.issuer === null ? keptDetail(seal.value) : null;
  if (kept) {
    if (text === "") return kept;
    return kept.type === "reasoning.summary" ? { ...kept, summary: text } : { ...kept, text };
  }
  const value = writeSeal(seal, "chat");
  const named = id === undefined ? {} : { id };
  if (redacted) return { type: "reasoning.encrypted", data: value, ...named, index };
  return { type: "reasoning.text", text, signature: value, ...named, index };
}

/** The same with the vendor's own detail of a seal known to be meant for the vendor, whoever issued it. */
export function writeOwnDetail(part: ReasoningPart & { readonly seal: Seal }, index: number): ReasoningDetail {
  return writeDetail({ ...part, seal: { ...part.seal, issuer: null } }, index);
}

/** Fields in one order, so that a detail that came whole and one that came in pieces are the same seal. */
function bareSealOf(detail: ReasoningDetail): Seal {
  const kept: JsonObject = {};
  for (const key of Object.keys(detail).sort()) {
    if (!TEXT_FIELDS.some((field) => field === key) && detail[key] !== null) kept[key] = detail[key];
  }
  return { form: "chat", issuer: null, value: JSON.stringify(kept) };
}

function keptDetail(value: string): ReasoningDetail | null {
  if (!value.startsWith("{")) return null;
  try {
    const detail = objectOf(JSON.parse(value));
    return detail && SEALED_FIELDS.some((field) => typeof detail[field] === "string") ? detail : null;
  } catch {
    return null; // not one of ours: then it is a bare signature
  }
}
