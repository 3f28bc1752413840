import type { Effort } from "../../neutral/conversation.ts";
import { UNKNOWN_FACTS } from "../../facts/model_facts.ts";
import type { FactEntry } from "./fact_entry.ts";

/** What a version of Anthropic's API refuses of every model. */
export interface VersionFacts {
  /** The document or the public report that states it. */
  readonly source: string;
  /** The month in which the source was read, as `2026-11`. */
  readonly seen: string;
  /** Members of a request that it refuses, at their default values, too. */
  readonly refusedMembers: readonly string[];
  /** Whether it refuses documents in messages of the assistant, and citations in texts of the user. */
  readonly refusesMixedContent: boolean;
}

/** Versions of Anthropic's API beside the first one, which takes what each model takes. */
export const ANTHROPIC_VERSIONS: ReadonlyMap<string, VersionFacts> = new Map([
  ["2026-10-21", {
    source: "Anthropic API reference, Versions; trials of two users at the live API",
    seen: "2026-11",
    refusedMembers: ["temperature", "top_p", "top_k"],
    refusesMixedContent: true,
  }],
]);

const UP_TO_HIGH: readonly Effort[] = ["none", "low", "medium", "high"];
const WITH_MAX: readonly Effort[] = [...UP_TO_HIGH, "max"];
const WITH_XHIGH: readonly Effort[] = [...UP_TO_HIGH, "xhigh", "max"];

/** Thinking cannot be switched off. */
const ALWAYS: readonly Effort[] = WITH_XHIGH.filter((effort) => effort !== "none");

/**
 * Facts of Anthropic's models, the most general entry first. A Claude model without an entry has the facts of the
 * newest ones.
 */
export const ANTHROPIC_FACTS: readonly FactEntry[] = [
  {
    models: ["claude-*"],
    source: "Anthropic, migration guides of Claude Opus 5.5 and Sonnet 5.5",
    seen: "2026-11",
    facts: {
      canReason: true,
      reasoningControl: "effort",
      efforts: ALWAYS,
      defaultEffort: "medium",
      samplingSupport: "never",
      canPrefill: false,
      forcedCalls: "never",
      hasSystemTurns: true,
      hasOutputSchemas: true,
      hasOutputSchemasWithTools: true,
      hasThinkingDisplay: true,
      hasMediaInToolResults: true,
      hasThinkingBudgets: false,
      thinkingOff: "never",
      minCacheTokens: 512,
    },
  },
  {
    models: ["claude-sonnet-5", "claude-*-4*", "claude-3*"],
    source: "Anthropic, Prompt caching, Cache limitations",
    seen: "2026-11",
    facts: { minCacheTokens: 1_024 },
  },
  {
    models: ["claude-opus-4-7", "claude-3-haiku*", "claude-3-5-haiku*"],
    source: "Anthropic, Prompt caching, Cache limitations",
    seen: "2026-11",
    facts: { minCacheTokens: 2_048 },
  },
  {
    models: ["claude-opus-4-6", "claude-opus-4-5", "claude-haiku-4-5"],
    source: "Anthropic, Prompt caching, Cache limitations",
    seen: "2026-11",
    facts: { minCacheTokens: 4_096 },
  },
  {
    models: ["claude-fable-*", "claude-mythos-*", "claude-opus-5", "claude-sonnet-5-5"],
    source: "Anthropic, model pages of Claude Fable 5.1, Opus 5 and Sonnet 5.5",
    seen: "2026-11",
    facts: { defaultEffort: "high" },
  },
  {
    models: ["claude-sonnet-5", "claude-*-4-8", "claude-*-4-7", "claude-*-4-6"],
    source: "Anthropic, Messages API reference, effort: the default is not documented for these models",
    seen: "2026-11",
    facts: { defaultEffort: null },
  },
  {
    models: ["claude-sonnet-5-5"],
    source: "Anthropic, Claude Sonnet 5.5 migration guide",
    seen: "2026-11",
    facts: { efforts: WITH_XHIGH, thinkingOff: "between_tools", offEfforts: UP_TO_HIGH },
  },
  {
    models: ["claude-haiku-5-5"],
    source: "Anthropic, Claude Haiku 5.5 migration guide",
    seen: "2026-11",
    facts: { efforts: WITH_XHIGH, thinkingOff: "disabled", offEfforts: UP_TO_HIGH, forcedCalls: "always" },
  },
  {
    models: ["claude-opus-5", "claude-sonnet-5"],
    source: "Anthropic, Migrating to Claude Opus 5",
    seen: "2026-11",
    facts: { efforts: WITH_XHIGH, thinkingOff: "disabled", forcedCalls: "always" },
  },
  {
    models: ["claude-opus-5"],
    source: "Anthropic, Migrating to Claude Opus 5",
    seen: "2026-11",
    facts: { offEfforts: UP_TO_HIGH },
  },
  {
    models: ["claude-sonnet-5"],
    source: "pydantic/pydantic-ai, profile of Claude Sonnet 5: a system message in the middle is ignored",
    seen: "2026-11",
    facts: { hasSystemTurns: false },
  },
  {
    models: ["claude-fable-5", "claude-mythos-5"],
    source: "Anthropic, Claude Opus 5.5 migration guide: forced calls end with Fable 5.1",
    seen: "2026-11",
    facts: { forcedCalls: "always" },
  },
  {
    models: ["claude-opus-4-8", "claude-opus-4-7"],
    source: "Anthropic, Messages API reference, thinking and tool_choice",
    seen: "2026-11",
    facts: { efforts: WITH_XHIGH, thinkingOff: "disabled", forcedCalls: "without_reasoning" },
  },
  {
    models: ["claude-opus-4-8"],
    source: "Anthropic, Messages API reference, tool_choice",
    seen: "2026-11",
    facts: { forcedCalls: "always" },
  },
  {
    models: ["claude-opus-4-7"],
    source: "pydantic/pydantic-ai, profile of Claude Opus 4.7",
    seen: "2026-11",
    facts: { hasSystemTurns: false },
  },
  {
    models: ["claude-opus-4-6", "claude-sonnet-4-6"],
    source: "Anthropic, Messages API reference, effort and thinking",
    seen: "2026-11",
    facts: {
      efforts: WITH_MAX,
      thinkingOff: "disabled",
      forcedCalls: "without_reasoning",
      hasSystemTurns: false,
      hasThinkingBudgets: true,
      samplingSupport: "one",
    },
  },
  {
    models: ["claude-*-4-5", "claude-*-4-1", "claude-*-4", "claude-3*"],
    source: "Anthropic, Messages API reference, thinking budgets",
    seen: "2026-11",
    facts: {
      efforts: null,
      defaultEffort: null,
      reasoningControl: "budget",
      samplingSupport: "one",
      canPrefill: true,
      forcedCalls: "without_reasoning",
      hasSystemTurns: false,
      hasThinkingBudgets: true,
      hasThinkingDisplay: false,
      thinkingOff: "disabled",
    },
  },
  {
    models: ["claude-opus-4-5"],
    source: "Anthropic, Messages API reference, effort; pydantic/pydantic-ai, profile of Claude Opus 4.5",
    seen: "2026-11",
    facts: { efforts: UP_TO_HIGH },
  },
  {
    models: ["claude-*-4-1", "claude-*-4", "claude-3*"],
    source: "Anthropic, Messages API reference, structured outputs",
    seen: "2026-11",
    facts: { hasOutputSchemas: false, hasOutputSchemasWithTools: false },
  },
  {
    models: ["claude-3*"],
    source: "Anthropic, Messages API reference, deprecations of sampling",
    seen: "2026-11",
    facts: { samplingSupport: "always" },
  },
  {
    models: ["claude-3-haiku*", "claude-3-opus*", "claude-3-sonnet*", "claude-3-5*"],
    source: "Anthropic, Messages API reference, models with extended thinking",
    seen: "2026-11",
    facts: { canReason: false, reasoningControl: null, forcedCalls: "always" },
  },
  {
    models: ["claude-1*", "claude-2*", "claude-instant*", "claude-code*"],
    source: "Anthropic, Model deprecations: other interfaces",
    seen: "2026-11",
    facts: UNKNOWN_FACTS,
  },
];
