import type { JsonObject } from "../../../../lib/json_object.ts";
import type { Part, ReasoningPart, Turn } from "../../../conversation.ts";
import type { Seal } from "../../../seal.ts";
import { THOUGHT_BREAK, writeOwnDetail } from "../shared/reasoning.ts";
import type { Writing } from "./writing.ts";

/** Index of the first turn after the last thing that a user said: from there on, tools and the model talk alone. */
export function toolLoopStart(turns: readonly Turn[]): number {
  return turns.findLastIndex((turn) => turn.role === "user" && turn.parts.some((part) => part.kind !== "tool_result")) +
    1;
}

/**
 * The thoughts of an assistant's turn in a request. The form's author takes none. Other vendors get back
 * what they sealed, and plain thoughts where some of them insist: beside the calls of a tool loop that still runs.
 */
export function writeReasoning(parts: readonly Part[], inToolLoop: boolean, writing: Writing): JsonObject {
  const details: JsonObject[] = [];
  const plain: string[] = [];
  for (const part of parts) {
    if (part.kind !== "reasoning") continue;
    const seal = part.seal && ownSeal(part.seal, writing);
    if (seal) details.push(writeOwnDetail({ ...part, seal }, details.length));
    else addPlain(part, plain, inToolLoop, writing);
  }
  return {
    ...(plain.length > 0 && { reasoning_content: plain.join(THOUGHT_BREAK) }),
    ...(details.length > 0 && { reasoning_details: details }),
    ...writeTextSeal(parts, writing),
  };
}

function addPlain(part: ReasoningPart, plain: string[], inToolLoop: boolean, writing: Writing): void {
  if (part.text === "" || part.redacted) return;
  if (inToolLoop && writing.target.quirks.has("reasoning_in_history")) plain.push(part.text);
  else writing.losses.add("reasoning_text");
}

function writeTextSeal(parts: readonly Part[], writing: Writing): JsonObject {
  for (const part of parts) {
    const seal = part.kind === "text" && part.seal ? ownSeal(part.seal, writing) : null;
    if (seal) return { extra_content: { google: { thought_signature: seal.value } } };
  }
  return {};
}

/** The seal if its issuer is the vendor that the request goes to, in this form; else null, and a loss. */
export function ownSeal(seal: Seal, { target, losses }: Writing): Seal | null {
  const isTaken = seal.issuer === null && target.quirks.has("reasoning_in_history");
  const own = seal.form === "chat" && (seal.issuer === target.provider || isTaken);
  if (!own) losses.add("reasoning_signature");
  return own ? seal : null;
}
