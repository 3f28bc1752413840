import type { JsonObject } from "../../../../lib/json_object.ts";
import type { Part, ReasoningPart, Turn } from "../../../conversation.ts";
import type { ReasoningSignature } from "../../../reasoning_signature.ts";
import { REASONING_SEPARATOR, writeOwnDetail } from "../shared/reasoning.ts";
import type { Writing } from "./writing.ts";

/** Index of the first turn after the last user message: from there on, only the model and tools take turns. */
export function toolLoopStart(turns: readonly Turn[]): number {
  return turns.findLastIndex((turn) => turn.role === "user" && turn.parts.some((part) => part.kind !== "tool_result")) +
    1;
}

/**
 * The reasoning of an assistant turn. OpenAI accepts none. Other vendors receive their own signed reasoning, and plain
 * reasoning where some require it: in a tool loop that is not finished.
 */
export function writeReasoning(parts: readonly Part[], inToolLoop: boolean, writing: Writing): JsonObject {
  const details: JsonObject[] = [];
  const plain: string[] = [];
  for (const part of parts) {
    if (part.kind !== "reasoning") continue;
    const signature = part.signature && ownSignature(part.signature, writing);
    if (signature) details.push(writeOwnDetail({ ...part, signature }, details.length));
    else addPlain(part, plain, inToolLoop, writing);
  }
  return {
    ...(plain.length > 0 && { reasoning_content: plain.join(REASONING_SEPARATOR) }),
    ...(details.length > 0 && { reasoning_details: details }),
    ...writeTextSignature(parts, writing),
  };
}

function addPlain(part: ReasoningPart, plain: string[], inToolLoop: boolean, writing: Writing): void {
  if (part.text === "" || part.redacted) return;
  if (inToolLoop && writing.target.quirks.has("reasoning_in_history")) plain.push(part.text);
  else writing.droppedFields.add("reasoning_text");
}

function writeTextSignature(parts: readonly Part[], writing: Writing): JsonObject {
  for (const part of parts) {
    const signature = part.kind === "text" && part.signature ? ownSignature(part.signature, writing) : null;
    if (signature) return { extra_content: { google: { thought_signature: signature.value } } };
  }
  return {};
}

/** The signature if the target vendor issued it in this format; otherwise null, and it is reported as dropped. */
export function ownSignature(
  signature: ReasoningSignature,
  { target, droppedFields }: Writing,
): ReasoningSignature | null {
  const isAccepted = signature.issuer === null && target.quirks.has("reasoning_in_history");
  const isOwn = signature.format === "chat" && (signature.issuer === target.provider || isAccepted);
  if (!isOwn) droppedFields.add("reasoning_signature");
  return isOwn ? signature : null;
}
