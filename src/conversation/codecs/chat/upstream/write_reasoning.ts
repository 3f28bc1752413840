import type { JsonObject } from "../../../../platform/lib/json/json_object.ts";
import type { Part, ReasoningPart, Turn } from "../../../neutral/conversation.ts";
import type { ReasoningSignature } from "../../../neutral/reasoning_signature.ts";
import { REASONING_SEPARATOR, writeOwnDetail } from "../shared/reasoning.ts";
import type { RequestTarget } from "../../../contract/upstream_format.ts";
import type { Writing } from "./writing.ts";

/**
 * The assistant's turns whose reasoning goes back as text: those with calls in a tool loop that is not finished, and
 * for models that require it all between two messages of the user with a call between them.
 */
export function reasoningTurnsOf(turns: readonly Turn[], { facts }: RequestTarget): ReadonlySet<Turn> {
  const found = new Set<Turn>();
  let loop: Turn[] = [];
  const addLoop = () => {
    if (loop.some(hasCall)) { for (const turn of loop) found.add(turn); }
    loop = [];
  };
  for (const turn of turns) {
    if (turn.role === "assistant") loop.push(turn);
    else if (turn.role === "user" && turn.parts.some((part) => part.kind !== "tool_result")) {
      if (facts.reasoningHistory === "tool_turns") addLoop();
      else loop = [];
    }
  }
  if (facts.reasoningHistory === "tool_turns") addLoop();
  else for (const turn of loop.filter(hasCall)) found.add(turn);
  return found;
}

function hasCall({ parts }: Turn): boolean {
  return parts.some(({ kind }) => kind === "tool_call");
}

/**
 * The reasoning of an assistant turn. OpenAI accepts none. Other vendors receive their own signed reasoning, and plain
 * reasoning where some require it.
 *
 * @param isReturned Whether the reasoning goes back as text, as {@linkcode reasoningTurnsOf} says.
 */
export function writeReasoning(parts: readonly Part[], isReturned: boolean, writing: Writing): JsonObject {
  const details: JsonObject[] = [];
  const plain: string[] = [];
  for (const part of parts) {
    if (part.kind !== "reasoning") continue;
    const signature = part.signature && ownSignature(part.signature, writing);
    if (signature) details.push(writeOwnDetail({ ...part, signature }, details.length));
    else addPlain(part, plain, isReturned, writing);
  }
  const name = writing.target.quirks.has("groq_fields") ? "reasoning" : "reasoning_content";
  const isRequired = isReturned && writing.target.facts.reasoningHistory === "tool_turns";
  return {
    ...((plain.length > 0 || isRequired) && { [name]: plain.join(REASONING_SEPARATOR) }),
    ...(details.length > 0 && { reasoning_details: details }),
    ...writeTextSignature(parts, writing),
  };
}

function addPlain(part: ReasoningPart, plain: string[], isReturned: boolean, writing: Writing): void {
  if (part.text === "" || part.redacted) return;
  const { quirks } = writing.target;
  if (isReturned && (quirks.has("reasoning_in_history") || quirks.has("groq_fields"))) plain.push(part.text);
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
