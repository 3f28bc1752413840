import { stopFor } from "../../../reply.ts";
import type { Stop, StopReason } from "../../../reply.ts";
import { textOf } from "../../../wire_value.ts";

/** `finish_reason` as the form's author and its dialects spell it. Source: Chat Completions reference; vendors' own. */
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

/** Words by which a vendor says in place of a reason that it failed. */
const FAILURES = ["error", "network_error"];

/** Whether `finish_reason` reports a failure. */
export function isFailure(finishReason: unknown): boolean {
  return FAILURES.includes(textOf(finishReason));
}

/**
 * Our word for a `finish_reason`. An unknown one, or none, is taken for a natural end.
 *
 * @param said What the reply held: a refusal without text is the reason for its end.
 */
export function readStop(finishReason: unknown, said: { text: boolean; refusal: boolean; call: boolean }): Stop {
  const raw = textOf(finishReason) || null;
  const reason = raw !== null && Object.hasOwn(REASONS, raw) ? REASONS[raw]! : "end";
  if (reason === "end" && said.refusal && !said.text) return { reason: "refusal", raw };
  return raw === null ? stopFor({ reason, raw }, said.call) : { reason, raw };
}

/** The vendor's own explanation of a stop, shown as a refusal where the reply has none. */
export function refusalOf(stop: Stop, refused: boolean): string {
  const blocked = stop.reason === "refusal" || stop.reason === "content_filter" || stop.reason === "prompt_blocked";
  return blocked && !refused ? stop.explanation ?? "" : "";
}

/**
 * The `finish_reason` for a stop.
 *
 * @param refused True when the caller sees a refusal: then a refusal is a natural end, else it looks like a filter.
 */
export function writeStop(stop: Stop, hasToolCall: boolean, refused: boolean): string {
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
      return refused ? "stop" : "content_filter";
    default:
      return "stop";
  }
}
