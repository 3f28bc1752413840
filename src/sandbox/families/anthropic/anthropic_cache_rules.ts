import type { JsonObject } from "../../../platform/lib/json/json_object.ts";
import { isObject, objectsOf } from "../../../conversation/neutral/wire_value.ts";
import { invalidRequest } from "./anthropic_fields.ts";

const MAX_CACHE_MARKS = 4;

/**
 * Checks the number of prompt cache markers, and that the longer lifetime comes first. Source: Messages API reference,
 * "Prompt caching"; the vendor's error messages.
 *
 * @throws {Refusal}
 */
export function checkCacheMarkers(body: JsonObject): void {
  const marked = [...placesIn(body)].filter(([, block]) => isObject(block.cache_control));
  if (marked.length > MAX_CACHE_MARKS) {
    throw invalidRequest(
      "",
      `A maximum of ${MAX_CACHE_MARKS} blocks with cache_control may be provided. Found ${marked.length}.`,
    );
  }
  checkPlaces(body);
  let isShort = false;
  for (const [path, { cache_control: mark, text }] of marked) {
    if (text === "") throw invalidRequest(path, "cache_control cannot be set for empty text blocks");
    const ttl = (mark as JsonObject).ttl ?? "5m";
    if (ttl !== "5m" && ttl !== "1h") {
      throw invalidRequest(`${path}.cache_control.ephemeral.ttl`, "Input should be '5m' or '1h'");
    }
    if (ttl === "1h" && isShort) {
      throw invalidRequest(
        `${path}.cache_control.ttl`,
        "a ttl='1h' cache_control block must not come after a ttl='5m' cache_control block.",
      );
    }
    isShort ||= ttl === "5m";
  }
}

/**
 * Refuses marks within results and on system messages in the middle, and two lifetimes for one block. Sources: public
 * reports with the whole answer, such as caozhiyuan/copilot-api#241; pydantic/pydantic-ai.
 */
function checkPlaces({ messages, cache_control: whole }: JsonObject): void {
  let last: JsonObject | null = null;
  objectsOf(messages).forEach(({ role, content }, index) =>
    objectsOf(content).forEach((block, at) => {
      const path = `messages.${index}.content.${at}`;
      const inner = objectsOf(block.content).findIndex((part) => isObject(part.cache_control));
      if (block.type === "tool_result" && inner >= 0) {
        throw invalidRequest(
          `${path}.tool_result.content.${inner}.cache_control`,
          "cache_control may not be specified within `tool_result.content`. Instead, place it directly on " +
            "`tool_result`",
        );
      }
      if (!isObject(block.cache_control)) return;
      if (role === "system") throw invalidRequest(`${path}.cache_control`, "Extra inputs are not permitted");
      last = block.cache_control;
    })
  );
  if (!isObject(whole) || last === null || lifetimeOf(whole) === lifetimeOf(last)) return;
  throw invalidRequest("cache_control.ttl", "must be the ttl of the last block with cache_control");
}

function lifetimeOf({ ttl }: JsonObject): unknown {
  return ttl ?? "5m";
}

/** Yields everything that can carry a marker, in the order in which a prompt is read. */
function* placesIn({ tools, system, messages }: JsonObject): Generator<[path: string, block: JsonObject]> {
  for (const [index, tool] of objectsOf(tools).entries()) yield [`tools.${index}`, tool];
  for (const [index, block] of objectsOf(system).entries()) yield [`system.${index}`, block];
  for (const [index, message] of objectsOf(messages).entries()) {
    for (const [at, block] of objectsOf(message.content).entries()) {
      const path = `messages.${index}.content.${at}`;
      for (const [inner, part] of objectsOf(block.content).entries()) yield [`${path}.content.${inner}`, part];
      yield [path, block];
    }
  }
}
