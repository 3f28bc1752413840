import { UNKNOWN_FACTS } from "../../facts/model_facts.ts";
import type { FactEntry } from "./fact_entry.ts";

/** Facts of xAI's models, the most general entry first. Without an entry, a model has those of the newest one. */
export const XAI_FACTS: readonly FactEntry[] = [
  {
    models: ["grok-*"],
    source: "xAI API reference, Reasoning; price page of Grok 4.7",
    seen: "2026-11",
    facts: {
      hasCompatibleChat: true,
      canReason: true,
      efforts: ["low", "medium", "high", "xhigh"],
      defaultEffort: "high",
      hasPenalties: false,
      hasChatStop: false,
      thinkingOff: "never",
    },
  },
  {
    models: ["grok-4.6*", "grok-4.5*"],
    source: "xAI API reference, Reasoning; pydantic/pydantic-ai, profiles",
    seen: "2026-11",
    facts: { efforts: ["low", "medium", "high"] },
  },
  {
    models: ["grok-4.3*"],
    source: "xAI API reference, Reasoning; pydantic/pydantic-ai, profiles",
    seen: "2026-11",
    facts: { efforts: ["none", "low", "medium", "high"], thinkingOff: null },
  },
  {
    models: [
      "grok-*non-reasoning*",
      "grok-4",
      "grok-4-*",
      "grok-4.1*",
      "grok-4.20*",
      "grok-2*",
      "grok-3*",
      "grok-beta*",
      "grok-build*",
      "grok-code*",
      "grok-imagine*",
      "grok-voice*",
      "grok-vision*",
    ],
    source: "xAI API reference, Models: efforts are not documented, or other interfaces",
    seen: "2026-11",
    facts: UNKNOWN_FACTS,
  },
];
