import type { Effort } from "../conversation.ts";
import type { ModelFacts } from "../model_facts.ts";

const EFFORTS: readonly Effort[] = ["none", "low", "medium", "high"];
const EFFORTS_WITH_MAX: readonly Effort[] = [...EFFORTS, "max"];
const EFFORTS_WITH_XHIGH: readonly Effort[] = [...EFFORTS, "xhigh", "max"];

/**
 * Facts of Anthropic's models by the version in their names (`claude-opus-4-8`, `claude-3-7-sonnet-latest`); null for a
 * name without one.
 * Source: Messages API reference, "Thinking", "Structured outputs", "Prefill" and the deprecations of `temperature`.
 *
 * @param name The model's name in lower case, without its maker.
 */
export function anthropicFacts(name: string): Partial<ModelFacts> | null {
  const version = versionIn(name);
  if (version === null) return null;
  return {
    canReason: version >= 307,
    reasoningControl: version < 307 ? null : version < 406 ? "budget" : "effort",
    efforts: version < 406
      ? null
      : version > 406
      ? EFFORTS_WITH_XHIGH
      : name.includes("opus")
      ? EFFORTS_WITH_MAX
      : EFFORTS,
    samplingSupport: version < 400 ? "always" : version < 407 ? "one" : "never",
    canPrefill: version < 406,
    hasOutputSchemas: version >= 405,
    hasOutputSchemasWithTools: version >= 405,
    hasThinkingDisplay: version >= 406,
    hasMediaInToolResults: true,
  };
}

/** `407` for 4.7; null without a version. A date of eight digits is not a version. */
function versionIn(name: string): number | null {
  const match = /claude-(?:[a-z]+-)?(\d{1,2})(?!\d)(?:[-.](\d{1,2})(?!\d))?/.exec(name);
  return match ? Number(match[1]) * 100 + Number(match[2] ?? 0) : null;
}
