import type { RequestTarget } from "../../../contract/upstream_format.ts";
import type { Effort } from "../../../neutral/conversation.ts";
import type { ReasoningConflict } from "../../../facts/model_facts.ts";

/** What a model supports in this format. Vendors reject requests with anything else. */
export interface ModelTraits {
  /** `enabled`: controlled by a token budget; `adaptive`: by an effort. */
  readonly thinking: "none" | "enabled" | "adaptive";
  /** The supported efforts, weakest first. */
  readonly efforts: readonly Effort[];
  /** Whether thinking can be controlled by a token budget. */
  readonly takesBudgets: boolean;
  /** How thinking is switched off: by this type, or not at all. */
  readonly off: "disabled" | "between_tools" | "never";
  /** When a call can be forced. */
  readonly forcedCalls: ReasoningConflict;
  /** False when temperature, top_p and top_k are rejected. */
  readonly takesSampling: boolean;
  /** False when temperature and top_p are rejected together. */
  readonly takesBothSamplings: boolean;
  /** True when a last assistant turn is continued. */
  readonly takesPrefill: boolean;
  /** True when `output_config.format` and `strict` of tools are supported. */
  readonly takesSchemas: boolean;
  /** True when `thinking.display` is supported. */
  readonly takesDisplay: boolean;
}

const ALL_EFFORTS: readonly Effort[] = ["low", "medium", "high", "xhigh", "max"];

/** The traits of a model. An unknown model is treated as one of Anthropic's newest. */
export function traitsOf({ facts, quirks }: Pick<RequestTarget, "facts" | "quirks">): ModelTraits {
  const isByBudget = (facts.reasoningControl ?? (quirks.has("thinking_budgets") ? "budget" : "effort")) === "budget";
  const efforts = (facts.efforts ?? ALL_EFFORTS).filter((effort) => ALL_EFFORTS.includes(effort));
  return {
    thinking: facts.canReason === false ? "none" : isByBudget ? "enabled" : "adaptive",
    efforts: efforts.length > 0 ? efforts : ALL_EFFORTS,
    takesBudgets: facts.hasThinkingBudgets ?? isByBudget,
    off: facts.thinkingOff ?? "disabled",
    forcedCalls: facts.forcedCalls ?? "always",
    takesSampling: facts.samplingSupport !== "never",
    takesBothSamplings: facts.samplingSupport === "always" ||
      (facts.samplingSupport === null && quirks.has("temperature_with_top_p")),
    takesPrefill: facts.canPrefill !== false,
    takesSchemas: facts.hasOutputSchemas !== false && !quirks.has("no_output_schemas"),
    takesDisplay: facts.hasThinkingDisplay !== false && !quirks.has("no_thinking_display"),
  };
}

/** Models without web search, which came with version 3.5. Source: Messages API reference, "Web search tool". */
const WITHOUT_SEARCH = /claude-(?:[12](?!\d)|instant|3-(?:opus|sonnet|haiku))/i;

/** Whether a model of Anthropic has web search. */
export function hasWebSearch(model: string): boolean {
  return !WITHOUT_SEARCH.test(model);
}
