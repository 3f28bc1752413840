import type { Effort } from "./conversation.ts";

/** When a model takes `temperature`, `top_p` and the penalties. */
export type Sampling =
  /** Together and alone. */
  | "always"
  /** One of `temperature` and `top_p` at a time. */
  | "one"
  /** While it does not reason. */
  | "without_reasoning"
  /** Never: a request that holds one is refused. */
  | "never";

/** What a model takes. Whatever is not known is null, and then the caller's fields are sent as they are. */
export interface ModelFacts {
  /** Whether it can reason. */
  readonly reasons: boolean | null;
  /** The efforts that it takes, weakest first, `none` among them where reasoning can be switched off. */
  readonly efforts: readonly Effort[] | null;
  /** The effort that holds where a request names none. */
  readonly defaultEffort: Effort | null;
  /** Whether formats that know both ask for reasoning by an effort or by a budget of tokens. */
  readonly reasoningBy: "effort" | "budget" | null;
  /** The least and the largest budget of reasoning, in tokens; the model is asked for one between them. */
  readonly budget: { readonly min: number; readonly max: number } | null;
  /** When it takes settings of sampling. */
  readonly samples: Sampling | null;
  /** Whether it goes on from a last turn of the assistant. */
  readonly prefills: boolean | null;
  /** Whether it holds its output to a JSON Schema. */
  readonly schemas: boolean | null;
  /** Whether it holds its output to a JSON Schema also while tools are offered. */
  readonly schemasBesideTools: boolean | null;
  /** Whether the caller chooses if thoughts are shown. */
  readonly displaysThinking: boolean | null;
  /** Whether it reads media within the result of a tool. */
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
