import type { Effort } from "./conversation.ts";

/** When a model accepts `temperature`, `top_p` and the penalties. */
export type SamplingSupport =
  /** In any combination. */
  | "always"
  /** Either `temperature` or `top_p`, not both. */
  | "one"
  /** Only when it does not reason. */
  | "without_reasoning"
  /** Never: a request with one is rejected. */
  | "never";

/** What a model supports. Null means unknown; the caller's fields are then sent unchanged. */
export interface ModelFacts {
  /** Whether it can reason. */
  readonly canReason: boolean | null;
  /** The efforts that it accepts, weakest first; includes `none` where reasoning can be turned off. */
  readonly efforts: readonly Effort[] | null;
  /** The effort that applies when a request names none. */
  readonly defaultEffort: Effort | null;
  /** Whether formats that have both control reasoning by an effort or by a token budget. */
  readonly reasoningControl: "effort" | "budget" | null;
  /** The smallest and largest reasoning budget, in tokens. Requested budgets are clamped to this range. */
  readonly budget: { readonly min: number; readonly max: number } | null;
  /** When it accepts sampling settings. */
  readonly samplingSupport: SamplingSupport | null;
  /** Whether it continues the text of a last assistant turn. */
  readonly canPrefill: boolean | null;
  /** Whether it enforces a JSON Schema on its output. */
  readonly hasOutputSchemas: boolean | null;
  /** Whether it also enforces a JSON Schema when tools are offered. */
  readonly hasOutputSchemasWithTools: boolean | null;
  /** Whether the caller can choose if reasoning is returned. */
  readonly hasThinkingDisplay: boolean | null;
  /** Whether it accepts media in the result of a tool. */
  readonly hasMediaInToolResults: boolean | null;
}

/** A model of which nothing is known. */
export const UNKNOWN_FACTS: ModelFacts = {
  canReason: null,
  efforts: null,
  defaultEffort: null,
  reasoningControl: null,
  budget: null,
  samplingSupport: null,
  canPrefill: null,
  hasOutputSchemas: null,
  hasOutputSchemasWithTools: null,
  hasThinkingDisplay: null,
  hasMediaInToolResults: null,
};
