import type { FactEntry } from "./fact_entry.ts";

/** Facts of DeepSeek's models, the most general entry first. Without an entry, a model has those of the newest one. */
export const DEEPSEEK_FACTS: readonly FactEntry[] = [
  {
    models: ["deepseek-*"],
    source: "DeepSeek API documentation, Thinking Mode, Models & Pricing; pydantic/pydantic-ai, profiles",
    seen: "2026-11",
    facts: {
      hasCompatibleChat: true,
      canReason: true,
      efforts: ["none", "low", "high", "max"],
      defaultEffort: "high",
      thinkingOff: "disabled",
      forcedCalls: "without_reasoning",
      hasChatCompletionLimit: false,
      hasChatSchemas: false,
      reasoningHistory: "tool_turns",
    },
  },
  {
    models: ["deepseek-chat*", "deepseek-coder*", "deepseek-v3*", "deepseek-r1*", "deepseek-reasoner*"],
    source: "DeepSeek API documentation, Create Chat Completion: models before V4",
    seen: "2026-11",
    facts: {
      canReason: null,
      efforts: null,
      defaultEffort: null,
      thinkingOff: null,
      forcedCalls: null,
      reasoningHistory: null,
    },
  },
];
