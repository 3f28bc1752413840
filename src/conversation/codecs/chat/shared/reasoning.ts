import type { JsonObject } from "../../../../platform/lib/json/json_object.ts";
import type { ReasoningPart } from "../../../neutral/conversation.ts";
import { readSignature, WRAPPED_SIGNATURE_PREFIX, writeSignature } from "../../../neutral/reasoning_signature.ts";
import type { ReasoningSignature } from "../../../neutral/reasoning_signature.ts";
import { listOf, objectOf, textOf } from "../../../neutral/wire_value.ts";

/**
 * Reasoning in the dialects of the chat format; OpenAI itself returns none. Fields are `reasoning_content`, `reasoning`
 * and `reasoning_details`, a list of `{type: "reasoning.text" | "reasoning.summary" | "reasoning.encrypted", text |
 * summary | data, signature, id, format, index}` that its vendor expects back unchanged. A detail of such a vendor,
 * without its text, is the value of a signature of the chat format (as JSON). A signature of another format is sent as
 * the `signature` or `data` of a detail.
 */
export type ReasoningDetail = JsonObject;

/** Separates the reasoning parts of one reply where they are joined. */
export const REASONING_SEPARATOR = "\n\n";

const SIGNATURE_FIELDS = ["signature", "data"] as const;
const TEXT_FIELDS = ["text", "summary"] as const;

/** The reasoning of a message or a delta as plain text, without `reasoning_details`; empty if none. */
export function plainReasoningOf(message: JsonObject): string {
  return textOf(message.reasoning_content) || textOf(message.reasoning);
}

/** The reasoning of a whole message, in order. */
export function readReasoning(message: JsonObject): ReasoningPart[] {
  const parts: ReasoningPart[] = [];
  for (const entry of listOf(message.reasoning_details)) {
    const detail = objectOf(entry);
    const part = detail && readDetail(detail);
    if (part) parts.push(part);
  }
  const plain = plainReasoningOf(message);
  if (plain === "" || parts.some((part) => part.text !== "")) return parts;
  // The details hold only signatures: the plain text belongs to the first that is not redacted.
  const first = parts.findIndex((part) => !part.redacted);
  if (first < 0) parts.unshift({ kind: "reasoning", text: plain });
  else parts[first] = { ...parts[first]!, text: plain };
  return parts;
}

/** Reads one detail; null when it is empty. */
export function readDetail(detail: ReasoningDetail): ReasoningPart | null {
  const text = textOf(detail.text) || textOf(detail.summary);
  const signature = textOf(detail.signature) || textOf(detail.data);
  if (text === "" && signature === "") return null;
  const isWrapped = signature.startsWith(WRAPPED_SIGNATURE_PREFIX);
  return {
    kind: "reasoning",
    text,
    ...(signature && { signature: isWrapped ? readSignature(signature, "chat") : ownSignatureOf(detail) }),
    ...(detail.type === "reasoning.encrypted" && { redacted: true }),
    ...(isWrapped && textOf(detail.id) && { id: textOf(detail.id) }),
  };
}

/** Writes the detail of a reasoning part with a signature. The inverse is {@linkcode readDetail}. */
export function writeDetail(
  part: ReasoningPart & { readonly signature: ReasoningSignature },
  index: number,
): ReasoningDetail {
  const { signature, text, redacted, id } = part;
  const kept = signature.format === "chat" && signature.issuer === null ? originalDetail(signature.value) : null;
  if (kept) {
    if (text === "") return kept;
    return kept.type === "reasoning.summary" ? { ...kept, summary: text } : { ...kept, text };
  }
  const value = writeSignature(signature, "chat");
  const named = id === undefined ? {} : { id };
  if (redacted) return { type: "reasoning.encrypted", data: value, ...named, index };
  return { type: "reasoning.text", text, signature: value, ...named, index };
}

/**
 * The same for the vendor that the request goes to. The signature counts as its own, whoever is recorded as the issuer.
 */
export function writeOwnDetail(
  part: ReasoningPart & { readonly signature: ReasoningSignature },
  index: number,
): ReasoningDetail {
  return writeDetail({ ...part, signature: { ...part.signature, issuer: null } }, index);
}

/** The signature of a vendor's own detail. Fields are sorted, so that streamed and whole details give equal values. */
function ownSignatureOf(detail: ReasoningDetail): ReasoningSignature {
  const kept: JsonObject = {};
  for (const key of Object.keys(detail).sort()) {
    if (!TEXT_FIELDS.some((field) => field === key) && detail[key] !== null) kept[key] = detail[key];
  }
  return { format: "chat", issuer: null, value: JSON.stringify(kept) };
}

function originalDetail(value: string): ReasoningDetail | null {
  if (!value.startsWith("{")) return null;
  try {
    const detail = objectOf(JSON.parse(value));
    return detail && SIGNATURE_FIELDS.some((field) => typeof detail[field] === "string") ? detail : null;
  } catch {
    return null; // a plain signature, not a detail
  }
}
