import type { JsonObject } from "../../../../platform/lib/json/json_object.ts";
import type { Stop, StopReason } from "../../../neutral/reply.ts";
import { isObject, textOrNull } from "../../../neutral/wire_value.ts";
import { objectsIn } from "./fields.ts";
import { ownValue } from "../../../../platform/lib/collections/own_value.ts";

/** The vendor's finish reasons. Source: Gemini API reference, "FinishReason". */
const REASONS: Readonly<Record<string, StopReason>> = {
  STOP: "end",
  MAX_TOKENS: "max_tokens",
  SAFETY: "content_filter",
  RECITATION: "content_filter",
  LANGUAGE: "content_filter",
  BLOCKLIST: "content_filter",
  PROHIBITED_CONTENT: "content_filter",
  SPII: "content_filter",
  MODEL_ARMOR: "content_filter",
  IMAGE_SAFETY: "content_filter",
  IMAGE_PROHIBITED_CONTENT: "content_filter",
  IMAGE_RECITATION: "content_filter",
  IMAGE_OTHER: "content_filter",
  MALFORMED_FUNCTION_CALL: "bad_tool_call",
  UNEXPECTED_TOOL_CALL: "bad_tool_call",
  TOO_MANY_TOOL_CALLS: "bad_tool_call",
  MALFORMED_RESPONSE: "bad_tool_call",
  MISSING_THOUGHT_SIGNATURE: "bad_tool_call",
  CONTINUATION: "paused",
};

/** Finish reasons with no equivalent in other formats, which are read as a normal end. */
const OTHER_ENDS: ReadonlySet<string> = new Set(["OTHER", "NO_IMAGE"]);

const FINISH_REASONS: Readonly<Record<StopReason, string>> = {
  end: "STOP",
  stop_sequence: "STOP",
  tool_calls: "STOP",
  refusal: "SAFETY",
  max_tokens: "MAX_TOKENS",
  context_full: "MAX_TOKENS",
  content_filter: "SAFETY",
  prompt_blocked: "PROHIBITED_CONTENT",
  bad_tool_call: "MALFORMED_FUNCTION_CALL",
  paused: "CONTINUATION",
};

/** Source: Gemini API reference, "BlockReason". */
const BLOCK_REASONS = new Set([
  "SAFETY",
  "OTHER",
  "BLOCKLIST",
  "PROHIBITED_CONTENT",
  "IMAGE_SAFETY",
  "MODEL_ARMOR",
  "JAILBREAK",
]);

/**
 * The stop of a reply or of one chunk of a stream; null when it has none. An unknown finish reason counts as a normal
 * end. A reply without candidates whose prompt was blocked is `prompt_blocked`.
 */
export function readStop(body: JsonObject): Stop | null {
  const candidate = objectsIn(body.candidates)[0];
  const raw = textOrNull(candidate?.finishReason);
  if (raw !== null && raw !== "FINISH_REASON_UNSPECIFIED") {
    const reason = ownValue(REASONS, raw) ?? "end";
    // For a normal end, the vendor's message only describes the kind of end.
    const explanation = reason === "end" ? null : textOrNull(candidate?.finishMessage);
    return explanation === null ? { reason, raw } : { reason, raw, explanation };
  }
  const feedback = body.promptFeedback;
  const block = isObject(feedback) ? textOrNull(feedback.blockReason) : null;
  if (block === null || !isObject(feedback)) return null;
  const explanation = textOrNull(feedback.blockReasonMessage);
  return explanation === null
    ? { reason: "prompt_blocked", raw: block }
    : { reason: "prompt_blocked", raw: block, explanation };
}

/** The finish reason of a stop: the vendor's own if it is one of this format. */
export function finishReasonOf(stop: Stop): string {
  const { raw, reason } = stop;
  if (raw !== null && ownValue(REASONS, raw) === reason) return raw;
  return raw !== null && (reason === "end" || reason === "bad_tool_call") && OTHER_ENDS.has(raw)
    ? raw
    : FINISH_REASONS[reason];
}

/** The member that replaces the candidates of a reply when the prompt was blocked. */
export function promptFeedbackOf(stop: Stop): JsonObject {
  const blockReason = stop.raw !== null && BLOCK_REASONS.has(stop.raw) ? stop.raw : "OTHER";
  return stop.explanation === undefined ? { blockReason } : { blockReason, blockReasonMessage: stop.explanation };
}

/**
 * The stop of a whole reply, given what came before it. `OTHER` without any content is a failure: a client would take
 * it for an empty answer.
 */
export function stopOfContents(stop: Stop, isEmpty: boolean): Stop {
  return isEmpty && stop.raw === "OTHER" && stop.reason === "end" ? { ...stop, reason: "bad_tool_call" } : stop;
}

/** True when a limit cut the reply off, so that its last call may be incomplete. */
export function wasCutOff(stop: Stop): boolean {
  return stop.reason === "max_tokens" || stop.reason === "context_full";
}
