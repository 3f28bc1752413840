import type { RequestTarget } from "../../../upstream_format.ts";
import type { Effort } from "../../../conversation.ts";

/** What a model takes in this form; a request outside of it is refused, so the writer asks first. */
export interface ModelTraits {
  /** `enabled` takes a budget of tokens, `adaptive` an effort. */
  readonly thinking: "none" | "enabled" | "adaptive";
  /** The efforts that it takes, weakest first. */
  readonly efforts: readonly Effort[];
  /** False when temperature, top_p and top_k are refused. */
  readonly takesSampling: boolean;
  /** False when temperature and top_p are refused together. */
  readonly takesBothSamplings: boolean;
  /** True when a last turn of the assistant is continued. */
  readonly takesPrefill: boolean;
  /** True when `output_config.format` and `strict` of tools are known to it. */
  readonly takesSchemas: boolean;
  /** True when `thinking.display` is known to it. */
  readonly takesDisplay: boolean;
}

const ALL_EFFORTS: readonly Effort[] = ["low", "medium", "high", "xhigh", "max"];

/** A model of which nothing is known counts as one of the author's newest. */
export function traitsOf({ facts, quirks }: Pick<RequestTarget, "facts" | "quirks">): ModelTraits {
  const isByBudget = (facts.reasoningBy ?? (quirks.has("thinking_budgets") ? "budget" : "effort")) === "budget";
  const efforts = (facts.efforts ?? ALL_EFFORTS).filter((effort) => ALL_EFFORTS.includes(effort));
  return {
    thinking: facts.reasons === false ? "none" : isByBudget ? "enabled" : "adaptive",
    efforts: efforts.length > 0 ? efforts : ALL_EFFORTS,
    takesSampling: facts.samples !== "never",
    takesBothSamplings: facts.samples === "always" ||
      (facts.samples === null && quirks.has("temperature_with_top_p")),
    takesPrefill: facts.prefills !== false,
    takesSchemas: facts.schemas !== false && !quirks.has("no_output_schemas"),
    takesDisplay: facts.displaysThinking !== false && !quirks.has("no_thinking_display"),
  };
}

/** Names of models without a search: it came with version 3.5. Source: Messages API reference, "Web search tool". */
const WITHOUT_SEARCH = /claude-(?:[12](?!\d)|instant|3-(?:opus|sonnet|haiku))/i;

/** Whether a model of the author's searches the web. */
export function searchesByName(model: string): boolean {
  return !WITHOUT_SEARCH.test(model);
}
