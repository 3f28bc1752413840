import type { JsonObject } from "../../../platform/lib/json/json_object.ts";
import type { CacheMark } from "../../neutral/conversation.ts";
import type { CachePlaces, FactTarget } from "../../contract/upstream_format.ts";

/**
 * The marks of OpenAI's formats, `prompt_cache_breakpoint`, for models that cache at them. Source: Chat Completions and
 * Responses API references, `prompt_cache_options`.
 */

/** Whether a model's vendor takes breakpoints. Of compatible vendors only those that take a key of the cache do. */
function takesBreakpoints({ facts, quirks }: FactTarget): boolean {
  return facts.hasCacheBreakpoints === true && !quirks.has("no_prompt_cache_key");
}

/** Where a request can have breakpoints; null for models without them. */
export function breakpointPlaces(target: FactTarget, instructions: boolean): CachePlaces | null {
  if (!takesBreakpoints(target)) return null;
  return { minTokens: target.facts.minCacheTokens ?? MIN_TOKENS, tools: false, instructions, results: true };
}

const MIN_TOKENS = 1_024;

/**
 * Writes the mark of a text, a picture or a document, as a field to spread; empty without one.
 *
 * @param droppedFields Receives `cache_control` if the model has no breakpoints.
 */
export function writeBreakpoint(
  cache: CacheMark | undefined,
  target: FactTarget,
  droppedFields: Set<string>,
): { readonly prompt_cache_breakpoint?: JsonObject } {
  if (cache === undefined) return {};
  if (takesBreakpoints(target)) return BREAKPOINT;
  droppedFields.add("cache_control");
  return {};
}

/** Without a lifetime, that of the request applies. */
const BREAKPOINT = { prompt_cache_breakpoint: { mode: "explicit" } };
