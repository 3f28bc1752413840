import type { Conversation } from "../../../conversation/neutral/conversation.ts";
import type { ReplyEvent } from "../../../conversation/neutral/events.ts";
import type { Reply, ReplyPart } from "../../../conversation/neutral/reply.ts";
import { StopSequenceFilter } from "./stop_sequence_filter.ts";

/**
 * Applies parameters to a reply that the vendor does not support: it ends the text at a stop sequence, and keeps only
 * the first tool call if parallel calls are not wanted.
 */
export interface Emulation {
  /** What it does, from which {@linkcode emulationOf} creates it in another thread. */
  readonly rule: EmulationRule;
  reply(reply: Reply): Reply;
  /** Whether the events of a stream stay as they are. */
  readonly keepsEvents: boolean;
  /** Returns a new transformer for one stream. */
  events(): (event: ReplyEvent) => ReplyEvent[];
}

/** What an emulation does. */
export interface EmulationRule {
  /** The stop sequences that end the text; empty if none does. */
  readonly stop: readonly string[];
  /** Whether only the first tool call is kept. */
  readonly keepsOneCall: boolean;
}

const NO_EMULATION: Emulation = {
  rule: { stop: [], keepsOneCall: false },
  keepsEvents: true,
  reply: (reply) => reply,
  events: () => (event) => [event],
};

/** Returns the emulation that a request needs, and the dropped fields that remain. */
export function emulationFor(
  { sampling, parallelToolCalls }: Conversation,
  droppedFields: readonly string[],
): { readonly emulation: Emulation; readonly droppedFields: readonly string[] } {
  const cutsText = droppedFields.includes("stop") && sampling.stop.length > 0;
  const keepsOneCall = droppedFields.includes("parallel_tool_calls") && parallelToolCalls === false;
  if (!cutsText && !keepsOneCall) return { droppedFields, emulation: NO_EMULATION };
  const emulated = new Set([...cutsText ? ["stop"] : [], ...keepsOneCall ? ["parallel_tool_calls"] : []]);
  return {
    droppedFields: droppedFields.filter((field) => !emulated.has(field)),
    emulation: emulationOf({ stop: cutsText ? sampling.stop : [], keepsOneCall }),
  };
}

/** Returns the emulation of a rule. */
export function emulationOf(rule: EmulationRule): Emulation {
  const { stop, keepsOneCall } = rule;
  const cutsText = stop.length > 0;
  if (!cutsText && !keepsOneCall) return NO_EMULATION;
  return {
    rule,
    keepsEvents: false,
    reply(reply) {
      const single = keepsOneCall ? { ...reply, parts: withoutLaterCalls(reply.parts) } : reply;
      return cutsText ? cutReply(single, stop) : single;
    },
    events() {
      const single = keepsOneCall ? laterCallDropper() : null;
      const cutter = cutsText ? new StopSequenceFilter(stop) : null;
      return (event) => {
        const kept = single ? single(event) : [event];
        return cutter ? kept.flatMap((one) => cutter.push(one)) : kept;
      };
    },
  };
}

function withoutLaterCalls(parts: readonly ReplyPart[]): readonly ReplyPart[] {
  const first = parts.findIndex(({ kind }) => kind === "tool_call");
  return parts.filter((part, at) => part.kind !== "tool_call" || at === first);
}

/** Drops every call after the first. Indexes do not change, because writers use them as names. */
function laterCallDropper(): (event: ReplyEvent) => ReplyEvent[] {
  const dropped = new Set<number>();
  let called = false;
  return (event) => {
    if (event.type === "part-start" && event.part.kind === "tool_call") {
      if (called) dropped.add(event.index);
      called = true;
    }
    return "index" in event && dropped.has(event.index) ? [] : [event];
  };
}

/** A whole reply is cut by the same code as a stream. */
function cutReply(reply: Reply, stop: readonly string[]): Reply {
  const parts: ReplyPart[] = [];
  for (const [index, part] of reply.parts.entries()) {
    if (part.kind !== "text") {
      parts.push(part);
      continue;
    }
    const cutter = new StopSequenceFilter(stop);
    const events = [
      ...cutter.push({ type: "part-start", index, part: { kind: "text" } }),
      ...cutter.push({ type: "part-delta", index, text: part.text }),
      ...cutter.push({ type: "part-end", index }),
    ];
    const text = events.map((event) => event.type === "part-delta" ? event.text : "").join("");
    const end = events.find((event) => event.type === "finish");
    if (end?.type !== "finish") {
      parts.push(part);
      continue;
    }
    if (text !== "") parts.push({ kind: "text", text });
    return { ...reply, parts, stop: end.stop };
  }
  return reply;
}
