import type { JsonObject } from "../../../../platform/lib/json/json_object.ts";
import { type MemberEdits, NO_MEMBER_EDITS } from "../../../parts/request/member_edits.ts";
import { COMMON_EFFORTS, effortForShare } from "../../../parts/request/effort.ts";
import type { PassThroughRequest } from "../../../contract/pass_through.ts";
import { isAbsent, isObject, numberOrNull, objectOf, textOf } from "../../../neutral/wire_value.ts";

/** Assumed length of the reply when the request sets no limit. */
const DEFAULT_OUTPUT_TOKENS = 8_192;

/**
 * Replaces the objects `reasoning` and `usage`, by which clients of OpenRouter request reasoning and streamed usage,
 * for vendors that do not support them. `reasoning_effort` takes precedence over the object.
 * Source: OpenRouter API reference, "Reasoning tokens", "Usage accounting".
 */
export function reasoningEditsOf({ body, quirks }: Pick<PassThroughRequest, "body" | "quirks">): MemberEdits {
  const hasNone = !isObject(body.reasoning) && !isObject(body.usage);
  if (hasNone || quirks.has("reasoning_object")) return NO_MEMBER_EDITS;
  const remove = ["reasoning", "usage"].filter((name) => isObject(body[name]));
  const reasoning = objectOf(body.reasoning);
  if (reasoning === null) return { set: {}, remove, droppedFields: [] };
  const droppedFields: string[] = [];
  if (!isAbsent(reasoning.exclude)) droppedFields.push("reasoning_visibility");
  const effort = textOf(reasoning.effort) || (reasoning.enabled === false ? "none" : "");
  const budget = numberOrNull(reasoning.max_tokens);
  if (effort !== "" && budget !== null) droppedFields.push("reasoning_budget");
  const nearest = budget === null ? null : effortForShare(budget / limitOf(body), COMMON_EFFORTS);
  const sent = effort !== "" ? effort : nearest;
  const set = sent === null || !isAbsent(body.reasoning_effort) ? {} : { reasoning_effort: sent };
  return { set, remove, droppedFields };
}

function limitOf(body: JsonObject): number {
  return numberOrNull(body.max_completion_tokens) ?? numberOrNull(body.max_tokens) ?? DEFAULT_OUTPUT_TOKENS;
}
