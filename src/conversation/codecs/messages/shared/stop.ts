import type { JsonObject } from "../../../../lib/json_object.ts";
import { ownValue } from "../../../../lib/own_value.ts";
import { type Stop, stopFor, type StopReason } from "../../../reply.ts";
import { isObject, textOrNull } from "../../../wire_value.ts";

const REASONS: Readonly<Record<string, StopReason>> = {
  end_turn: "end",
  max_tokens: "max_tokens",
  stop_sequence: "stop_sequence",
  tool_use: "tool_calls",
  pause_turn: "paused",
  compaction: "paused",
  refusal: "refusal",
  content_filter: "content_filter", // of vendors that only resemble the form's author
  model_context_window_exceeded: "context_full",
};

/** The stop that a whole reply, or the `delta` of a `message_delta`, tells. */
export function readStop(words: JsonObject): Stop {
  const raw = textOrNull(words.stop_reason);
  const sequence = textOrNull(words.stop_sequence);
  const explanation = isObject(words.stop_details) ? textOrNull(words.stop_details.explanation) : null;
  return {
    reason: raw === null ? "end" : ownValue(REASONS, raw) ?? "end",
    raw,
    ...(sequence === null ? {} : { sequence }),
    ...(explanation === null ? {} : { explanation }),
  };
}

/** What a reply held, as far as its stop depends on it. */
export interface Spoken {
  /** True when it calls a tool of the caller's. */
  readonly hasToolCall: boolean;
  /** True when a part of it is a refusal. */
  readonly hasRefusal: boolean;
}

/** The inverse of {@linkcode readStop}: what clients act on, whatever the vendor said. */
export function writeStop(stop: Stop, spoken: Spoken): JsonObject {
  const told = stopFor(stop, spoken.hasToolCall);
  const word = wordFor(told, spoken);
  return {
    stop_reason: word,
    stop_sequence: word === "stop_sequence" ? told.sequence : null,
    ...(word === "refusal"
      ? { stop_details: { type: "refusal", category: null, explanation: told.explanation ?? null } }
      : {}),
  };
}

function wordFor(stop: Stop, { hasToolCall, hasRefusal }: Spoken): string {
  switch (stop.reason) {
    case "end":
      return hasRefusal ? "refusal" : "end_turn";
    case "stop_sequence":
      return stop.sequence === undefined ? "end_turn" : "stop_sequence"; // clients expect to be told which
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
