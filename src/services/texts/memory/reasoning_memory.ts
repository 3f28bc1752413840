import { appendAll } from "../../../platform/lib/collections/append_all.ts";
import { createHash } from "node:crypto";
import type { ReplayPolicy } from "../../../conversation/contract/caller_format.ts";
import type {
  Conversation,
  Part,
  ReasoningPart,
  ToolCallPart,
  Turn,
} from "../../../conversation/neutral/conversation.ts";
import { isSignedReasoning, placesOf, type ReasoningPlace, withReasoningPlaced } from "./reasoning_places.ts";
import type { ReplyPart } from "../../../conversation/neutral/reply.ts";
import type { ReasoningSignature } from "../../../conversation/neutral/reasoning_signature.ts";
import type { KeptValues } from "./bounded_memory.ts";

/**
 * Keeps the signatures of a reply that do not come back with its history. Clients of the chat format send back only a
 * call's id and arguments, but some vendors reject a tool's result without the signature of its call. Other formats
 * carry signatures, except those after the last text: they would end a reply with an empty block. A signature is found
 * by the call's id, or by the text that it belongs to. Signatures are kept in memory for some hours. After that, codecs
 * send what their vendor accepts in their place.
 */
export interface ReasoningMemory {
  /**
   * Keeps the signatures of a reply's calls and texts, and the reasoning that belongs to them.
   *
   * @param signatures Which signatures the caller's format does not carry.
   */
  keep(accountId: string, parts: readonly ReplyPart[], signatures: ReplayPolicy["signatures"]): void;
  /** Keeps values that another thread found in a reply: keys, values, and the characters that they count as. */
  keepValues(values: readonly (readonly [string, KeptReasoning, number])[]): void;
  /** Reads what other processes have kept for a conversation. Null if there is nothing to read. */
  load(accountId: string, conversation: Conversation): Promise<void> | null;
  /** Returns the conversation with the kept reasoning and signatures restored before and on its calls and texts. */
  restore(accountId: string, conversation: Conversation): Conversation;
}

/** What is kept of one tool call or text. */
export interface KeptReasoning {
  /** The signed reasoning that belongs to it: before a call, after the call before it. */
  readonly reasoning: readonly ReasoningPart[];
  /** Where the reasoning of a call is, if its reply has any. Earlier versions kept none. */
  readonly place?: Pick<ReasoningPlace, "texts" | "after">;
  /** Its own signature, undefined if there is none. */
  readonly signature: ReasoningSignature | undefined;
}

const MAX_CHARACTERS = 1_000_000;

/** Shorter texts are ambiguous: "Yes." may be the reply to any question. */
const MIN_TEXT_CHARACTERS = 24;

/** Creates a memory over kept values. */
export function reasoningMemoryOver(memory: KeptValues<KeptReasoning>): ReasoningMemory {
  function put(accountId: string, part: ReplyPart, place: ReasoningPlace | null): void {
    const signature = signatureOf(part);
    if (place === null && !signature) return;
    const { reasoning, ...rest } = place ?? NO_PLACE;
    const key = keyOf(accountId, part);
    if (key === null) return;
    const size = [...reasoning, ...(rest.after ?? [])].reduce(
      (sum, part) => sum + part.text.length + (part.signature?.value.length ?? 0),
      0,
    ) +
      (signature?.value.length ?? 0);
    if (size <= MAX_CHARACTERS) {
      memory.put(key, { reasoning, signature, ...(rest.texts.length > 0 && { place: rest }) }, size);
    }
  }

  /** Reasoning is kept with the call that it came before. */
  function keepCalls(accountId: string, parts: readonly ReplyPart[]): void {
    for (const [call, place] of placesOf(parts)) put(accountId, call, place);
  }

  /** Keeps the reasoning after the last text or call, and its signature. */
  function keepLast(accountId: string, parts: readonly ReplyPart[]): void {
    const at = parts.findLastIndex((part) => part.kind !== "reasoning" || part.text !== "");
    if (at < 0) return;
    const reasoning = parts.slice(at + 1).filter(isSignedReasoning);
    put(accountId, parts[at]!, reasoning.length === 0 ? null : { reasoning, texts: [] });
  }

  return {
    keep(accountId, parts, signatures) {
      if (signatures === "none") return;
      for (const part of parts) if (part.kind === "text") put(accountId, part, null);
      if (signatures === "all") keepCalls(accountId, parts);
      else keepLast(accountId, parts);
    },
    keepValues(values) {
      for (const [key, value, characters] of values) memory.put(key, value, characters);
    },
    load(accountId, { turns }) {
      if (memory.load === undefined) return null;
      const keys = turns.flatMap(({ role, parts }) =>
        role === "assistant" ? parts.flatMap((part) => keyOf(accountId, part) ?? []) : []
      );
      return memory.load(keys);
    },
    restore(accountId, conversation) {
      if (memory.isEmpty) return conversation;
      const find = (part: Part) => {
        const key = keyOf(accountId, part);
        return key === null ? null : memory.find(key);
      };
      return { ...conversation, turns: conversation.turns.map((message) => restored(message, find)) };
    },
  };
}

/** Returns the key of a part, or null if it has none. */
function keyOf(accountId: string, part: Part): string | null {
  if (part.kind === "tool_call") return `${accountId} ${part.callId}`;
  if (part.kind !== "text" || part.text.length < MIN_TEXT_CHARACTERS) return null;
  return `${accountId} text ${createHash("sha256").update(part.text).digest("base64")}`;
}

const NO_PLACE: ReasoningPlace = { reasoning: [], texts: [] };

function signatureOf(part: ReplyPart): ReasoningSignature | undefined {
  return "signature" in part ? part.signature : undefined;
}

function restored(message: Turn, find: (part: Part) => KeptReasoning | null): Turn {
  if (message.role !== "assistant") return message;
  const hasReasoning = message.parts.some(isSignedReasoning);
  const reasoning: ReasoningPart[] = [];
  const places = new Map<ToolCallPart, ReasoningPlace>();
  const parts = message.parts.map((part) => {
    if (part.kind !== "tool_call" && part.kind !== "text") return part;
    const found = find(part);
    if (!found) return part;
    appendAll(reasoning, found.reasoning);
    const signature = part.signature ?? found.signature;
    const own = signature === undefined ? part : { ...part, signature };
    if (own.kind === "tool_call" && found.place) places.set(own, { reasoning: found.reasoning, ...found.place });
    return own;
  });
  // What the client sends back is the same reasoning without its place.
  if (mayBePlaced(message.parts, [...places.values()])) {
    return { ...message, parts: withReasoningPlaced(parts, (call) => places.get(call) ?? null) };
  }
  if (hasReasoning || reasoning.length === 0) return { ...message, parts };
  // The reasoning that the client shows has no signature. It is replaced by the vendor's original.
  return { ...message, parts: [...reasoning, ...parts.filter(({ kind }) => kind !== "reasoning")] };
}

/** Whether places are known for all signed reasoning that a client sent back. */
function mayBePlaced(parts: readonly Part[], places: readonly ReasoningPlace[]): boolean {
  const known = places.flatMap(({ reasoning, after = [] }) => [...reasoning, ...after]);
  const values = new Set(known.map(({ signature }) => signature?.value));
  return known.length > 0 && parts.filter(isSignedReasoning).every(({ signature }) => values.has(signature?.value));
}
