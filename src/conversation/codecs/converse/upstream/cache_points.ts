import type { JsonObject } from "../../../../platform/lib/json/json_object.ts";
import type { CacheMark } from "../../../neutral/conversation.ts";
import { objectOf, objectsOf } from "../../../neutral/wire_value.ts";
import type { CachePlaces, RequestTarget } from "../../../contract/upstream_format.ts";
import { traitsOf } from "./model_traits.ts";
import type { Writing } from "./writing.ts";

/** The largest number of marks in a request. Source: Amazon Bedrock User Guide, "Prompt caching". */
const MAX_POINTS = 4;

/** The shortest prefix that models with marks cache. Source: Amazon Bedrock User Guide, "Prompt caching". */
const MIN_TOKENS = 1_000;

/** Where a request to a model can be marked; null for models that do not cache by marks. */
export function cachePlaces(target: Pick<RequestTarget, "model" | "facts" | "quirks">): CachePlaces | null {
  if (!traitsOf(target).takesCachePoints) return null;
  return { minTokens: target.facts.minCacheTokens ?? MIN_TOKENS, tools: false, instructions: true, results: true };
}

/** The block at the end of a prefix to cache; none without a mark, and for models that do not cache by marks. */
export function writeCachePoint(cache: CacheMark | undefined, { traits, droppedFields }: Writing): JsonObject[] {
  if (cache === undefined) return [];
  // Models with marks have one lifetime.
  if (!traits.takesCachePoints || cache.ttl === "1h") droppedFields.add("cache_control");
  return traits.takesCachePoints ? [{ cachePoint: { type: "default" } }] : [];
}

/** Removes marks until the request has at most four, of which the last are kept. */
export function limitCachePoints(body: JsonObject, droppedFields: Set<string>): void {
  const lists = [body, ...objectsOf(body.messages)].flatMap((holder) =>
    ["system", "content"].filter((field) => Array.isArray(holder[field])).map((field) => ({ holder, field }))
  );
  const count = lists.reduce((sum, { holder, field }) => sum + objectsOf(holder[field]).filter(isPoint).length, 0);
  let excess = count - MAX_POINTS;
  if (excess <= 0) return;
  droppedFields.add("cache_control");
  for (const { holder, field } of lists) {
    holder[field] = objectsOf(holder[field]).filter((block) => !isPoint(block) || --excess < 0);
  }
}

function isPoint(block: JsonObject): boolean {
  return objectOf(block.cachePoint) !== null;
}
