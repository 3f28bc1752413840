import { Buffer } from "node:buffer";
import type { ReasoningPart } from "../../../neutral/conversation.ts";
import type { JsonObject } from "../../../../platform/lib/json/json_object.ts";
import {
  isIssuedBy,
  readSignature,
  type ReasoningSignature,
  writeSignature,
} from "../../../neutral/reasoning_signature.ts";
import { textOrNull } from "../../../neutral/wire_value.ts";
import { field } from "./fields.ts";

/**
 * The documented signature for history that the model did not generate. The vendor's newer models reject a step whose
 * first call has no signature. Source: Gemini API reference, "Thought signatures".
 */
export const PLACEHOLDER_SIGNATURE = "skip_thought_signature_validator";

/** Values that clients send when they have no signature: the two documented ones, also as base64. */
const PLACEHOLDERS = new Set(
  [PLACEHOLDER_SIGNATURE, "context_engineering_is_the_way_to_go"].flatMap((word) => [
    word,
    Buffer.from(word).toString("base64"),
    Buffer.from(word).toString("base64url"),
  ]),
);

/** Precedes the value of a signature of redacted reasoning, because this format has no other field for that. */
const REDACTED_PREFIX = "redacted:";

/**
 * Reads the signature of a request's part; null when it has none or a placeholder. Signatures are bytes in this format:
 * clients that decode them may send them back in the URL-safe alphabet, which is converted.
 */
export function readPartSignature(part: JsonObject): ReasoningSignature | null {
  const value = textOrNull(field(part, "thoughtSignature"));
  if (value === null || PLACEHOLDERS.has(value)) return null;
  return readSignature(standardBase64Of(value), "content");
}

/** Reads the signature of a part in a vendor's reply. */
export function readReplySignature(part: JsonObject): ReasoningSignature | null {
  const value = textOrNull(part.thoughtSignature);
  return value === null ? null : { format: "content", issuer: null, value };
}

function standardBase64Of(value: string): string {
  const isUrlSafe = /[-_]/.test(value) && /^[A-Za-z0-9_-]{16,}={0,2}$/.test(value);
  return isUrlSafe ? value.replaceAll("-", "+").replaceAll("_", "/") : value;
}

/** The reasoning part with this text and signature. */
export function reasoningOf(text: string, signature: ReasoningSignature | null): ReasoningPart {
  if (signature === null) return { kind: "reasoning", text };
  if (signature.format === "content" || !signature.value.startsWith(REDACTED_PREFIX)) {
    return { kind: "reasoning", text, signature };
  }
  return {
    kind: "reasoning",
    text,
    signature: { ...signature, value: signature.value.slice(REDACTED_PREFIX.length) },
    redacted: true,
  };
}

/** Writes a signature for a caller. */
export function writeReplySignature(signature: ReasoningSignature, isRedacted: boolean): string {
  const marked = isRedacted && signature.format !== "content"
    ? { ...signature, value: REDACTED_PREFIX + signature.value }
    : signature;
  return writeSignature(marked, "content");
}

/** The signature to send to a provider; null when another provider issued it. */
export function signatureFor(signature: ReasoningSignature | undefined, provider: string): string | null {
  return signature !== undefined && isIssuedBy(signature, "content", provider) ? signature.value : null;
}
