import type { EventWriter } from "../../../conversation/contract/caller_format.ts";
import { argumentsOf } from "../../../conversation/parts/request/call_input.ts";
import type { ReplyEvent } from "../../../conversation/neutral/events.ts";
import type { Reply, ReplyPart, StopReason } from "../../../conversation/neutral/reply.ts";
import { promptTokensOf, type Usage } from "../../../conversation/neutral/usage.ts";
import type { Frame } from "../../../platform/lib/streams/frame.ts";
import type { JsonObject } from "../../../platform/lib/json/json_object.ts";

/** Writes a whole reply of Converse. */
export function writeConverseReply({ parts, stop, usage }: Reply): JsonObject {
  return {
    metrics: { latencyMs: 1 },
    output: { message: { role: "assistant", content: parts.map(blockOf) } },
    stopReason: STOPS[stop.reason],
    ...(usage && { usage: usageOf(usage) }),
  };
}

const STOPS: Readonly<Record<StopReason, string>> = {
  end: "end_turn",
  stop_sequence: "stop_sequence",
  max_tokens: "max_tokens",
  context_full: "model_context_window_exceeded",
  tool_calls: "tool_use",
  refusal: "content_filtered",
  content_filter: "content_filtered",
  prompt_blocked: "guardrail_intervened",
  bad_tool_call: "malformed_tool_use",
  paused: "end_turn",
};

function blockOf(part: ReplyPart): JsonObject {
  switch (part.kind) {
    case "reasoning":
      return {
        reasoningContent: part.redacted
          ? { redactedContent: part.signature?.value }
          : { reasoningText: { text: part.text, signature: part.signature?.value } },
      };
    case "tool_call":
      return { toolUse: { toolUseId: part.callId, name: part.tool, input: argumentsOf(part) } };
    default:
      return { text: "text" in part ? part.text : "" };
  }
}

/** Counts as the vendor does: input without the tokens of caches, and a total with them. */
function usageOf(usage: Usage): JsonObject {
  return {
    inputTokens: usage.freshTokens,
    outputTokens: usage.outputTokens,
    totalTokens: promptTokensOf(usage) + usage.outputTokens,
    cacheReadInputTokens: usage.cacheReadTokens,
    cacheWriteInputTokens: usage.cacheWrite5mTokens + usage.cacheWrite1hTokens,
  };
}

/** Writes the events of a stream. Each frame has the type of its event. */
export function converseEventWriter(): EventWriter {
  const kinds = new Map<number, string>();
  return { write: (event) => framesOf(event, kinds), writeText: () => null, fail: () => [] };
}

function framesOf(event: ReplyEvent, kinds: Map<number, string>): Frame[] {
  switch (event.type) {
    case "start":
      return [frame("messageStart", { role: "assistant" })];
    case "part-start":
      kinds.set(event.index, "redacted" in event.part && event.part.redacted ? "redacted" : event.part.kind);
      // Only calls are announced.
      return event.part.kind === "tool_call"
        ? [atBlock("contentBlockStart", event.index, {
          start: { toolUse: { toolUseId: event.part.callId, name: event.part.tool } },
        })]
        : [];
    case "part-delta":
      return [delta(event.index, deltaOf(kinds.get(event.index), event.text))];
    case "part-signature":
      return [delta(event.index, { reasoningContent: signatureField(event.signature.value, kinds.get(event.index)) })];
    case "part-end":
      return [atBlock("contentBlockStop", event.index, {})];
    case "finish":
      return [
        frame("messageStop", { stopReason: STOPS[event.stop.reason] }),
        frame("metadata", { ...(event.usage && { usage: usageOf(event.usage) }), metrics: { latencyMs: 1 } }),
      ];
    default:
      return [];
  }
}

function deltaOf(kind: string | undefined, text: string): JsonObject {
  if (kind === "tool_call") return { toolUse: { input: text } };
  return kind === "reasoning" ? { reasoningContent: { text } } : { text };
}

/** Redacted reasoning has no text, and the simulated vendor sends its value as the only delta. */
function signatureField(value: string, kind: string | undefined): JsonObject {
  return kind === "redacted" ? { redactedContent: value } : { signature: value };
}

function delta(index: number, fields: JsonObject): Frame {
  return atBlock("contentBlockDelta", index, { delta: fields });
}

function atBlock(event: string, contentBlockIndex: number, fields: JsonObject): Frame {
  return frame(event, { contentBlockIndex, ...fields });
}

function frame(event: string, body: JsonObject): Frame {
  return { event, data: JSON.stringify({ ...body, p: "abcdefgh" }) };
}
