import { Buffer } from "node:buffer";
import type { ReasoningPart } from "../../../conversation.ts";
import type { JsonObject } from "../../../../lib/json_object.ts";
import { readSeal, type Seal, writeSeal } from "../../../seal.ts";
import { textOrNull } from "../../../wire_value.ts";
import { field } from "./fields.ts";

/**
 * The documented signature of history that the model did not produce itself. The vendor's newer models refuse a step
 * whose first call has no signature at all. Source: Gemini API reference, "Thought signatures".
 */
export const UNVALIDATED_SEAL = "skip_thought_signature_validator";

/** What clients send where they have no signature: the two documented words, also as base64 of them. */
const PLACEHOLDERS = new Set(
  [UNVALIDATED_SEAL, "context_engineering_is_the_way_to_go"].flatMap((word) => [
    word,
    Buffer.from(word).toString("base64"),
    Buffer.from(word).toString("base64url"),
  ]),
);

/** Stands before the value of a seal that carries hidden reasoning, as this form has no other place to say so. */
const REDACTED_MARK = "redacted:";

/**
 * The seal of a request's part, if any. Signatures are bytes of this form: clients that decode them may send them back
 * in the URL-safe alphabet, which is undone here. A placeholder is no seal.
 */
export function readPartSeal(part: JsonObject): Seal | null {
  const value = textOrNull(field(part, "thoughtSignature"));
  if (value === null || PLACEHOLDERS.has(value)) return null;
  return readSeal(standardBase64Of(value), "content");
}

/** The seal that a vendor put on a part of its reply. */
export function readReplySeal(part: JsonObject): Seal | null {
  const value = textOrNull(part.thoughtSignature);
  return value === null ? null : { form: "content", issuer: null, value };
}

function standardBase64Of(value: string): string {
  const isUrlSafe = /[-_]/.test(value) && /^[A-Za-z0-9_-]{16,}={0,2}$/.test(value);
  return isUrlSafe ? value.replaceAll("-", "+").replaceAll("_", "/") : value;
}

/** The reasoning part that a thought with this text and seal stands for. */
export function reasoningOf(text: string, seal: Seal | null): ReasoningPart {
  if (seal === null) return { kind: "reasoning", text };
  if (seal.form === "content" || !seal.value.startsWith(REDACTED_MARK)) return { kind: "reasoning", text, seal };
  return { kind: "reasoning", text, seal: { ...seal, value: seal.value.slice(REDACTED_MARK.length) }, redacted: true };
}

/** The signature under which a caller is shown a seal. */
export function writeReplySeal(seal: Seal, isRedacted: boolean): string {
  const marked = isRedacted && seal.form !== "content" ? { ...seal, value: REDACTED_MARK + seal.value } : seal;
  return writeSeal(marked, "content");
}

/** The signature to send to a provider, or null when it would not know the seal. */
export function signatureFor(seal: Seal | undefined, provider: string): string | null {
  if (seal === undefined || seal.form !== "content") return null;
  return seal.issuer === null || seal.issuer === provider ? seal.value : null;
}
