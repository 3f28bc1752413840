import type { JsonObject } from "../../../../lib/json_object.ts";
import { effortForShare, THREE_EFFORTS } from "../../../effort.ts";
import type { PassedRequest } from "../../../pass_through.ts";
import { isAbsent, isObject, numberOrNull, objectOf, textOf } from "../../../wire_value.ts";

/** Members to set and to take out, and the neutral names of what is lost with them. */
export interface MemberEdits {
  readonly set: JsonObject;
  readonly remove: readonly string[];
  readonly losses: readonly string[];
}

/** What a reply may hold where the request does not say. */
const USUAL_OUTPUT_TOKENS = 8_192;

/**
 * What a vendor that knows neither is told in place of the objects `reasoning` and `usage`, by which clients of
 * OpenRouter ask for thoughts and for usage in the stream. An effort that stands beside the object wins.
 * Source: OpenRouter API reference, "Reasoning tokens", "Usage accounting".
 */
export function reasoningWishOf({ body, quirks }: Pick<PassedRequest, "body" | "quirks">): MemberEdits {
  if (quirks.has("reasoning_object")) return { set: {}, remove: [], losses: [] };
  const remove = ["reasoning", "usage"].filter((name) => isObject(body[name]));
  const wish = objectOf(body.reasoning);
  if (wish === null) return { set: {}, remove, losses: [] };
  const losses: string[] = [];
  if (!isAbsent(wish.exclude)) losses.push("reasoning_visibility");
  const effort = textOf(wish.effort) || (wish.enabled === false ? "none" : "");
  const budget = numberOrNull(wish.max_tokens);
  if (effort !== "" && budget !== null) losses.push("reasoning_budget");
  const told = effort !== "" ? effort : budget === null ? null : effortForShare(budget / limitOf(body), THREE_EFFORTS);
  const set = told === null || !isAbsent(body.reasoning_effort) ? {} : { reasoning_effort: told };
  return { set, remove, losses };
}

function limitOf(body: JsonObject): number {
  return numberOrNull(body.max_completion_tokens) ?? numberOrNull(body.max_tokens) ?? USUAL_OUTPUT_TOKENS;
}
