import type { Effort } from "../neutral/conversation.ts";

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

/** When a model accepts something that its vendor refuses together with reasoning. */
export type ReasoningConflict = "always" | "without_reasoning" | "never";

/** What a model supports. Null means unknown; the caller's fields are then sent unchanged. */
export interface ModelFacts {
  /** Whether it can reason. */
  readonly canReason: boolean | null;
  /** The efforts that it accepts, weakest first; includes `none` where reasoning can be turned off. */
  readonly efforts: readonly Effort[] | null;
  /** The effort that applies when a request names none. */
  readonly defaultEffort: Effort | null;
  /** Whether its maker serves it at chat completions; otherwise at `/responses` only. */
  readonly hasChat: boolean | null;
  /** The efforts that chat completions accepts, where they are fewer than {@linkcode efforts}; null: the same ones. */
  readonly chatEfforts: readonly Effort[] | null;
  /** When chat completions accepts function tools. A vendor that refuses them there takes them at `/responses`. */
  readonly chatTools: ReasoningConflict | null;
  /** Whether chat completions accepts `stop`. */
  readonly hasChatStop: boolean | null;
  /** Whether chat completions accepts `max_tokens` in place of `max_completion_tokens`. */
  readonly hasChatMaxTokens: boolean | null;
  /** Whether chat completions honors `max_completion_tokens`; a vendor that does not may ignore it in silence. */
  readonly hasChatCompletionLimit: boolean | null;
  /** Whether chat completions enforces a JSON Schema on the output. */
  readonly hasChatSchemas: boolean | null;
  /**
   * Whether its maker serves it at chat completions of the kind that compatible vendors have. Facts then also hold for
   * requests that pass through to such vendors.
   */
  readonly hasCompatibleChat: boolean | null;
  /**
   * Which reasoning of earlier turns chat completions requires in a request: that of turns with tool calls
   * (`tool_turns`), with an empty text where a turn has none; or none.
   */
  readonly reasoningHistory: "tool_turns" | "none" | null;
  /** Whether formats that have both control reasoning by an effort or by a token budget. */
  readonly reasoningControl: "effort" | "budget" | null;
  /** The smallest and largest reasoning budget, in tokens. Requested budgets are clamped to this range. */
  readonly budget: { readonly min: number; readonly max: number } | null;
  /** When it accepts sampling settings. */
  readonly samplingSupport: SamplingSupport | null;
  /** Whether it accepts penalties other than 0. */
  readonly hasPenalties: boolean | null;
  /** Whether the messages format accepts a budget of thinking tokens. */
  readonly hasThinkingBudgets: boolean | null;
  /** How thinking is switched off, where a format has the object `thinking`: by this type of it, or not at all. */
  readonly thinkingOff: "disabled" | "between_tools" | "never" | null;
  /** The efforts that it accepts while thinking is switched off; null: all of {@linkcode efforts}. */
  readonly offEfforts: readonly Effort[] | null;
  /** When a request may force a tool call. */
  readonly forcedCalls: ReasoningConflict | null;
  /** Whether it accepts a message with the role `system` after the first turn. */
  readonly hasSystemTurns: boolean | null;
  /**
   * Whether system text stands first in the input of `/responses`, as a message of the developer. The vendor would
   * append `instructions` to the input, outside of the cached prefix.
   */
  readonly hasInstructionsInInput: boolean | null;
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
  /** Whether it uses contents that its vendor stores. Otherwise only the vendor's implicit cache applies. */
  readonly hasExplicitCaches: boolean | null;
  /** The tokens of the shortest prefix that its vendor caches. A shorter one is not cached, without an error. */
  readonly minCacheTokens: number | null;
  /** Whether its vendor caches prefixes at breakpoints (`prompt_cache_breakpoint`) that a request has. */
  readonly hasCacheBreakpoints: boolean | null;
  /** Whether `/responses` loads tools by `tool_search`, so that a request may defer them. */
  readonly hasToolSearch: boolean | null;
  /** Whether `tool_choice` may name a tool that only an item of the input declares (`additional_tools`). */
  readonly hasAddedToolChoice: boolean | null;
  /**
   * The most output tokens of one request, streamed or whole, of a model that goes on in a further request. Each of
   * them reads the prompt and the output so far again.
   */
  readonly hopTokens: { readonly streamed: number; readonly whole: number } | null;
  /** Whether it reads `$ref` in a schema. Definitions are otherwise put in the place of references. */
  readonly hasSchemaReferences: boolean | null;
}

/** A model of which nothing is known. */
export const UNKNOWN_FACTS: ModelFacts = {
  canReason: null,
  efforts: null,
  defaultEffort: null,
  hasChat: null,
  chatEfforts: null,
  chatTools: null,
  hasChatStop: null,
  hasChatMaxTokens: null,
  hasChatCompletionLimit: null,
  hasChatSchemas: null,
  hasCompatibleChat: null,
  reasoningHistory: null,
  reasoningControl: null,
  budget: null,
  samplingSupport: null,
  hasPenalties: null,
  hasThinkingBudgets: null,
  thinkingOff: null,
  offEfforts: null,
  forcedCalls: null,
  hasSystemTurns: null,
  hasInstructionsInInput: null,
  canPrefill: null,
  hasOutputSchemas: null,
  hasOutputSchemasWithTools: null,
  hasThinkingDisplay: null,
  hasMediaInToolResults: null,
  hasExplicitCaches: null,
  minCacheTokens: null,
  hasCacheBreakpoints: null,
  hasToolSearch: null,
  hasAddedToolChoice: null,
  hopTokens: null,
  hasSchemaReferences: null,
};

/** Facts that vendors' lists state, by {@linkcode listedFactsKey}. */
export type ListedFacts = Readonly<Record<string, Partial<ModelFacts>>>;

/** What a catalog entry states about its model. */
export interface CatalogFacts {
  /** `<provider>/<model_name>`. */
  readonly id: string;
  /** Request parameters by their names in the chat format; empty where the operator named none. */
  readonly supportedParameters: readonly string[];
  /** Facts that the operator states about the model (`models[].facts`). Default: none. */
  readonly facts?: Partial<ModelFacts>;
  /** What the lists of its vendors state. Default: nothing. */
  readonly listedFacts?: ListedFacts;
}
