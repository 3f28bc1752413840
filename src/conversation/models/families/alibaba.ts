import type { FactEntry } from "./fact_entry.ts";

/** Facts of Alibaba's models, the most general entry first. Other Qwen models are not described. */
export const ALIBABA_FACTS: readonly FactEntry[] = [
  {
    models: ["qwen3-coder*", "qwen-3-coder*"],
    source: "pydantic/pydantic-ai, profile of Qwen 3 Coder: tool_choice required is refused",
    seen: "2026-11",
    facts: { hasCompatibleChat: true, forcedCalls: "never" },
  },
];
