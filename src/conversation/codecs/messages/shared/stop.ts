import type { JsonObject } from "../../../../platform/lib/json/json_object.ts";
import { ownValue } from "../../../../platform/lib/collections/own_value.ts";
import { type Stop, stopFor, type StopReason } from "../../../neutral/reply.ts";
import { isObject, textOrNull } from "../../../neutral/wire_value.ts";

const REASONS: Readonly<Record<string, StopReason>> = {
  end_turn: "end",
  max_tokens: "max_tokens",
  stop_sequence: "stop_sequence",
  tool_use: "tool_calls",
  pause_turn: "paused",
  compaction: "paused",
  refusal: "refusal",
  content_filter: "content_filter", // of compatible vendors
  model_context_window_exceeded: "context_full",
};

/** Reads the stop of a whole reply or of the `delta` of a `message_delta`. */
export function readStop(fields: JsonObject): Stop {
  const raw = textOrNull(fields.stop_reason);
  const sequence = textOrNull(fields.stop_sequence);
  const explanation = isObject(fields.stop_details) ? textOrNull(fields.stop_details.explanation) : null;
  return {
    reason: raw === null ? "end" : ownValue(REASONS, raw) ?? "end",
    raw,
    ...(sequence === null ? {} : { sequence }),
    ...(explanation === null ? {} : { explanation }),
  };
}

/** Contents of a reply that determine its stop. */
export interface ReplyContents {
  /** True when it calls one of the caller's tools. */
  readonly hasToolCall: boolean;
  /** True when it contains a refusal. */
  readonly hasRefusal: boolean;
}

/** Writes a stop. The reason follows the reply's contents, because clients act on it. */
export function writeStop(stop: Stop, contents: ReplyContents): JsonObject {
  const reported = stopFor(stop, contents.hasToolCall);
  const stopReason = stopReasonFor(reported, contents);
  return {
    stop_reason: stopReason,
    stop_sequence: stopReason === "stop_sequence" ? reported.sequence : null,
    ...(stopReason === "refusal"
      ? { stop_details: { type: "refusal", category: null, explanation: reported.explanation ?? null } }
      : {}),
  };
}

function stopReasonFor(stop: Stop, { hasToolCall, hasRefusal }: ReplyContents): string {
  switch (stop.reason) {
    case "end":
      return hasRefusal ? "refusal" : "end_turn";
    case "stop_sequence":
      return stop.sequence === undefined ? "end_turn" : "stop_sequence"; // clients expect the sequence
    case "tool_calls":
      return hasToolCall ? "tool_use" : "end_turn";
    case "max_tokens":
      return "max_tokens";
    case "context_full":
      return "model_context_window_exceeded";
    case "refusal":
    case "content_filter":
    case "prompt_blocked":
      return "refusal";
    case "bad_tool_call":
      return "end_turn";
    case "paused":
      return "pause_turn";
  }
}
