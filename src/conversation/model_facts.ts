import type { Effort } from "./conversation.ts";

/** When a model accepts `temperature`, `top_p` and the penalties. */
export type Sampling =
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
  readonly reasons: boolean | null;
  /** The efforts that it accepts, weakest first; includes `none` where reasoning can be turned off. */
  readonly efforts: readonly Effort[] | null;
  /** The effort that applies when a request names none. */
  readonly defaultEffort: Effort | null;
  /** Whether formats that have both control reasoning by an effort or by a token budget. */
  readonly reasoningBy: "effort" | "budget" | null;
  /** The smallest and largest reasoning budget, in tokens. Requested budgets are clamped to this range. */
  readonly budget: { readonly min: number; readonly max: number } | null;
  /** When it accepts sampling settings. */
  readonly samples: Sampling | null;
  /** Whether it continues the text of a last assistant turn. */
  readonly prefills: boolean | null;
  /** Whether it enforces a JSON Schema on its output. */
  readonly schemas: boolean | null;
  /** Whether it also enforces a JSON Schema when tools are offered. */
  readonly schemasBesideTools: boolean | null;
  /** Whether the caller can choose if reasoning is returned. */
  readonly displaysThinking: boolean | null;
  /** Whether it accepts media in the result of a tool. */
  readonly mediaInToolResults: boolean | null;
}

/** A model of which nothing is known. */
export const UNKNOWN_FACTS: ModelFacts = {
  reasons: null,
  efforts: null,
  defaultEffort: null,
  reasoningBy: null,
  budget: null,
  samples: null,
  prefills: null,
  schemas: null,
  schemasBesideTools: null,
  displaysThinking: null,
  mediaInToolResults: null,
};
