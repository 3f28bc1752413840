import type { Effort } from "../../neutral/conversation.ts";
import { UNKNOWN_FACTS } from "../../facts/model_facts.ts";
import type { FactEntry } from "./fact_entry.ts";

const LEVELS: readonly Effort[] = ["low", "medium", "high"];
const WITH_MINIMAL: readonly Effort[] = ["minimal", ...LEVELS];

/**
 * Facts of Google's models, the most general entry first. A Gemini model without an entry has the facts of the newest
 * generation.
 */
export const GOOGLE_FACTS: readonly FactEntry[] = [
  {
    models: ["gemini-*"],
    source: "Google, Get started with Gemini 4; Gemini API, Long decode; Gemini API reference, Thinking",
    seen: "2026-11",
    facts: {
      canReason: true,
      reasoningControl: "effort",
      efforts: LEVELS,
      defaultEffort: "high",
      hasPenalties: false,
      hasOutputSchemas: true,
      hasOutputSchemasWithTools: true,
      hasMediaInToolResults: true,
      hasExplicitCaches: false,
      hopTokens: { streamed: 65_536, whole: 32_768 },
    },
  },
  {
    models: ["gemini-4-neon*", "gemini-4-hydrogen*"],
    source: "Announcements of Gemini 4 Neon and Hydrogen",
    seen: "2026-11",
    facts: { efforts: [...LEVELS, "xhigh"] },
  },
  {
    models: ["gemini-3-*", "gemini-3.*", "gemini-2.5-*"],
    source: "Gemini API reference, Thinking: the defaults of these models differ; Context caching",
    seen: "2026-11",
    facts: { defaultEffort: null, hasExplicitCaches: null, hopTokens: null },
  },
  {
    models: ["gemini-3.6-flash"],
    source: "Gemini API reference, Thinking, levels by model",
    seen: "2026-11",
    facts: { defaultEffort: "medium" },
  },
  {
    models: ["gemini-3.5-flash-lite"],
    source: "Gemini API reference, Thinking, levels by model",
    seen: "2026-11",
    facts: { defaultEffort: "minimal" },
  },
  {
    models: ["gemini-3-*", "gemini-3.1-*", "gemini-3.5-*", "gemini-3.6-*"],
    source: "Gemini API reference, Thinking, levels by model",
    seen: "2026-11",
    facts: { efforts: WITH_MINIMAL },
  },
  {
    models: ["gemini-3.1-pro*", "gemini-3.5-pro*"],
    source: "Gemini API reference, Thinking, levels by model",
    seen: "2026-11",
    facts: { efforts: LEVELS },
  },
  {
    models: ["gemini-3-pro*"],
    source: "Gemini API reference, Thinking, levels by model",
    seen: "2026-11",
    facts: { efforts: ["low", "high"] },
  },
  {
    models: ["gemini-2.5-*"],
    source: "Gemini API reference, Thinking budgets",
    seen: "2026-11",
    facts: {
      reasoningControl: "budget",
      efforts: ["none", ...WITH_MINIMAL],
      budget: { min: 1, max: 24_576 },
      hasOutputSchemasWithTools: false,
      hasMediaInToolResults: false,
    },
  },
  {
    models: ["gemini-2.5-*lite*"],
    source: "Gemini API reference, Thinking budgets",
    seen: "2026-11",
    facts: { budget: { min: 512, max: 24_576 } },
  },
  {
    models: ["gemini-2.5-pro*"],
    source: "Gemini API reference, Thinking budgets",
    seen: "2026-11",
    facts: { efforts: WITH_MINIMAL, budget: { min: 128, max: 32_768 } },
  },
  {
    models: ["gemini-2.0*", "gemini-1*"],
    source: "Gemini API reference, Structured output",
    seen: "2026-11",
    facts: {
      ...UNKNOWN_FACTS,
      canReason: false,
      hasOutputSchemas: true,
      hasOutputSchemasWithTools: false,
      hasMediaInToolResults: false,
    },
  },
  {
    models: ["gemini-embedding*", "gemini-flash*", "gemini-pro*", "gemini-nano*", "gemini-omni*", "gemini-live*"],
    source: "Gemini API reference, Models: aliases and other interfaces",
    seen: "2026-11",
    facts: UNKNOWN_FACTS,
  },
];
