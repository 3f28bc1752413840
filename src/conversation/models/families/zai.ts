import { UNKNOWN_FACTS } from "../../facts/model_facts.ts";
import type { FactEntry } from "./fact_entry.ts";

/** Facts of Z.ai's models, the most general entry first. A GLM model without an entry has those of the newest one. */
export const ZAI_FACTS: readonly FactEntry[] = [
  {
    models: ["glm-*"],
    source: "pydantic/pydantic-ai, profile of GLM-5.3; Structured Outputs Across AI APIs (JSON mode only)",
    seen: "2026-11",
    facts: {
      hasCompatibleChat: true,
      canReason: true,
      efforts: ["low", "high", "max"],
      thinkingOff: "never",
      hasChatSchemas: false,
    },
  },
  {
    models: ["glm-5", "glm-5-*", "glm-5.1*", "glm-5.2*", "glm-5v*", "glm-4.5*", "glm-4.6*", "glm-4.7*"],
    source: "Z.AI API reference, Chat Completion, thinking",
    seen: "2026-11",
    facts: { efforts: null, thinkingOff: "disabled" },
  },
  {
    models: ["glm-4", "glm-4-*", "glm-4v*", "glm-3*", "glm-z1*", "glm-image*", "glm-ocr*", "glm-asr*", "glm-tts*"],
    source: "Z.AI API reference, models before GLM-4.5, and other interfaces",
    seen: "2026-11",
    facts: UNKNOWN_FACTS,
  },
];
