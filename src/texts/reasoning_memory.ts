import type { Conversation, ReasoningPart, ToolCallPart, Turn } from "../conversation/conversation.ts";
import type { ReplyPart } from "../conversation/reply.ts";
import type { Seal } from "../conversation/seal.ts";
import type { KeptValues } from "./bounded_memory.ts";

/**
 * Remembers the proofs of reasoning that belong to a tool call, for callers whose form loses them: clients of the chat form
 * send back a call's id and arguments and nothing else, but some vendors refuse a tool's result without the proof that came
 * with the call. Kept in memory for some hours; when it is gone, codecs send what their vendor accepts in its place.
 */
export interface ReasoningMemory {
  /** Keeps what a reply's calls need to be told of. */
  keep(accountId: string, parts: readonly ReplyPart[]): void;
  /** The conversation with what was kept put back before and onto its calls. */
  restore(accountId: string, conversation: Conversation): Conversation;
}

/** What is kept of one tool call. */
export interface KeptReasoning {
  readonly reasoning: readonly ReasoningPart[];
  readonly seal: Seal | undefined;
}

const MOST_CHARACTERS_OF_ONE = 1_000_000;

/** A memory over kept values. */
export function reasoningMemoryOver(memory: KeptValues<KeptReasoning>): ReasoningMemory {
  function put(key: string, reasoning: readonly ReasoningPart[], seal: Seal | undefined): void {
    const size = reasoning.reduce((sum, part) => sum + part.text.length + (part.seal?.value.length ?? 0), 0) +
      (seal?.value.length ?? 0);
    if (size <= MOST_CHARACTERS_OF_ONE) memory.put(key, { reasoning, seal }, size);
  }

  return {
    keep(accountId, parts) {
      const reasoning = parts.filter((part): part is ReasoningPart => part.kind === "reasoning" && !!part.seal);
      let first = true;
      for (const part of parts) {
        if (part.kind !== "tool_call") continue;
        // The thoughts stand before the first call of their turn; later calls only have a proof of their own.
        if ((first && reasoning.length > 0) || part.seal) {
          put(`${accountId} ${part.callId}`, first ? reasoning : [], part.seal);
        }
        first = false;
      }
    },
    restore(accountId, conversation) {
      if (memory.isEmpty) return conversation;
      const turns = conversation.turns.map((turn) => restored(turn, (callId) => memory.find(`${accountId} ${callId}`)));
      return { ...conversation, turns };
    },
  };
}

function restored(turn: Turn, find: (callId: string) => KeptReasoning | null): Turn {
  if (turn.role !== "assistant" || !turn.parts.some(({ kind }) => kind === "tool_call")) return turn;
  const alreadyThinks = turn.parts.some((part) => part.kind === "reasoning" && part.seal);
  const reasoning: ReasoningPart[] = [];
  const parts = turn.parts.map((part) => {
    if (part.kind !== "tool_call") return part;
    const found = find(part.callId);
    if (!found) return part;
    reasoning.push(...found.reasoning);
    return { ...part, seal: part.seal ?? found.seal } satisfies ToolCallPart;
  });
  if (alreadyThinks || reasoning.length === 0) return { ...turn, parts };
  // What the client shows of the thoughts has no proof and makes way for what the vendor said.
  return { ...turn, parts: [...reasoning, ...parts.filter(({ kind }) => kind !== "reasoning")] };
}
