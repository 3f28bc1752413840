import type { JsonObject } from "../../../../platform/lib/json/json_object.ts";
import { stopFor } from "../../../neutral/reply.ts";
import type { Stop, StopReason } from "../../../neutral/reply.ts";
import { textOf, textOrNull } from "../../../neutral/wire_value.ts";
import { ownValue } from "../../../../platform/lib/collections/own_value.ts";

/**
 * Values of `finish_reason` at OpenAI and in dialects. Source: Chat Completions reference; other vendors' references.
 */
const REASONS: Readonly<Record<string, StopReason>> = {
  stop: "end",
  length: "max_tokens",
  tool_calls: "tool_calls",
  function_call: "tool_calls",
  content_filter: "content_filter",
  max_tokens: "max_tokens",
  model_length: "context_full",
  sensitive: "content_filter",
  insufficient_system_resource: "max_tokens",
};

/** Values by which a vendor reports a failure in place of a reason. */
const FAILURES = ["error", "network_error"];

/** Whether `finish_reason` reports a failure. */
export function isFailure(finishReason: unknown): boolean {
  return FAILURES.includes(textOf(finishReason));
}

/**
 * The reason to stop that a choice of a stream states; null for none. Some vendors send `""` in every chunk, where
 * OpenAI sends null.
 */
export function finishReasonIn(choice: JsonObject): string | null {
  return textOrNull(choice.finish_reason);
}

/**
 * The neutral reason of a `finish_reason`. An unknown or missing one counts as a normal end.
 *
 * @param content What the reply contained: a refusal without text is the reason for its end.
 */
export function readStop(finishReason: unknown, content: { text: boolean; refusal: boolean; call: boolean }): Stop {
  const raw = textOf(finishReason) || null;
  const reason = raw === null ? "end" : ownValue(REASONS, raw) ?? "end";
  if (reason === "end" && content.refusal && !content.text) return { reason: "refusal", raw };
  return raw === null ? stopFor({ reason, raw }, content.call) : { reason, raw };
}

/** The vendor's explanation of a stop, to be shown as a refusal when the reply contains none. */
export function refusalOf(stop: Stop, hasRefusal: boolean): string {
  const blocked = stop.reason === "refusal" || stop.reason === "content_filter" || stop.reason === "prompt_blocked";
  return blocked && !hasRefusal ? stop.explanation ?? "" : "";
}

/**
 * The `finish_reason` of a stop.
 *
 * @param hasRefusal True when the reply contains a refusal: `refusal` is then written as `stop`, otherwise as
 * `content_filter`.
 */
export function writeStop(stop: Stop, hasToolCall: boolean, hasRefusal: boolean): string {
  switch (stopFor(stop, hasToolCall).reason) {
    case "max_tokens":
    case "context_full":
      return "length";
    case "tool_calls":
      return "tool_calls";
    case "content_filter":
    case "prompt_blocked":
      return "content_filter";
    case "refusal":
      return hasRefusal ? "stop" : "content_filter";
    default:
      return "stop";
  }
}
