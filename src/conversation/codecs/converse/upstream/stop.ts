import { ownValue } from "../../../../platform/lib/collections/own_value.ts";
import type { Stop, StopReason } from "../../../neutral/reply.ts";
import { textOrNull } from "../../../neutral/wire_value.ts";

/** Source: Amazon Bedrock API reference, "Converse", `stopReason`. */
const REASONS: Readonly<Record<string, StopReason>> = {
  end_turn: "end",
  tool_use: "tool_calls",
  max_tokens: "max_tokens",
  stop_sequence: "stop_sequence",
  guardrail_intervened: "content_filter",
  content_filtered: "content_filter",
  malformed_model_output: "bad_tool_call",
  malformed_tool_use: "bad_tool_call",
  model_context_window_exceeded: "context_full",
};

/** Reads a stop reason. An unknown or missing one counts as a normal end. */
export function readStop(stopReason: unknown): Stop {
  const raw = textOrNull(stopReason);
  return { reason: raw === null ? "end" : ownValue(REASONS, raw) ?? "end", raw };
}
