import type { FactEntry } from "./fact_entry.ts";

/** Facts of Moonshot's models, the most general entry first. Without an entry, a model has those of the newest one. */
export const MOONSHOT_FACTS: readonly FactEntry[] = [
  {
    models: ["kimi-*"],
    source:
      "Moonshot, K3.1 Pro quickstart; pydantic/pydantic-ai#6208 (temperature 1 only); continuedev/continue#11806 (reasoning_content)",
    seen: "2026-11",
    facts: {
      hasCompatibleChat: true,
      canReason: true,
      efforts: ["low", "high", "max"],
      thinkingOff: "never",
      forcedCalls: "never",
      reasoningHistory: "tool_turns",
      samplingSupport: "never",
    },
  },
  {
    models: ["kimi-k2.7*"],
    source: "pydantic/pydantic-ai#6208: always thinks, without efforts",
    seen: "2026-11",
    facts: { efforts: null },
  },
  {
    models: ["kimi-k2.6*", "kimi-k2.5*"],
    source: "pydantic/pydantic-ai#6208; HKUDS/nanobot#3939 (thinking and reasoning_effort exclude each other)",
    seen: "2026-11",
    facts: { efforts: null, thinkingOff: "disabled" },
  },
  {
    models: ["kimi-k2", "kimi-k2-*", "kimi-latest*", "kimi-thinking*"],
    source: "Moonshot API documentation, Tool use: models before K2.5",
    seen: "2026-11",
    facts: { canReason: null, efforts: null, thinkingOff: null, reasoningHistory: null, samplingSupport: null },
  },
];
