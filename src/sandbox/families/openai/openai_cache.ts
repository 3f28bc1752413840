import { OPENAI_FACTS } from "../../../conversation/models/families/openai.ts";
import type { CachedAt } from "../../prompt_cache.ts";
import { factsIn } from "../known_facts.ts";

/**
 * From GPT-5.6 on, prompts are cached at their end and at breakpoints, and writes are reported and charged. Source:
 * Responses API reference, `prompt_cache_options`.
 */
export function cachedAt(model: string): CachedAt {
  return factsIn(OPENAI_FACTS, model).hasCacheBreakpoints === true ? "markers_and_end" : "any_length";
}
