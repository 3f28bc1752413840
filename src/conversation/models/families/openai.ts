import type { Effort } from "../../neutral/conversation.ts";
import { type ModelFacts, UNKNOWN_FACTS } from "../../facts/model_facts.ts";
import type { FactEntry } from "./fact_entry.ts";

const UP_TO_HIGH: readonly Effort[] = ["low", "medium", "high"];
const UP_TO_XHIGH: readonly Effort[] = [...UP_TO_HIGH, "xhigh"];
const UP_TO_MAX: readonly Effort[] = [...UP_TO_XHIGH, "max"];

/** The reference of the endpoint, which lists what each model refuses there. */
const CHAT_REFERENCE = "OpenAI API reference, Create chat completion";

/** A model that always reasons refuses sampling settings. */
const ALWAYS_REASONS: Partial<ModelFacts> = { samplingSupport: "never" };

/**
 * Facts of OpenAI's models, the most general entry first. A GPT model without an entry has the facts of the newest one.
 * Endpoints: chat completions refuses function tools together with reasoning from GPT-5.4 on, and never takes the
 * effort `max`, or `stop` for a model that reasons.
 */
export const OPENAI_FACTS: readonly FactEntry[] = [
  {
    models: ["gpt-*", "codex*"],
    source: "OpenAI, model page of GPT-6.2 Sol; guide Using GPT-6.2",
    seen: "2026-11",
    facts: {
      canReason: true,
      reasoningControl: "effort",
      samplingSupport: "without_reasoning",
      efforts: UP_TO_MAX,
      chatEfforts: ["none", "minimal", ...UP_TO_XHIGH],
      chatTools: "without_reasoning",
      hasChatStop: false,
      hasChatMaxTokens: false,
      hasInstructionsInInput: true,
      minCacheTokens: 1_024,
      hasCacheBreakpoints: true,
      hasToolSearch: true,
      hasAddedToolChoice: true,
    },
  },
  {
    models: ["gpt-5", "gpt-5-*", "gpt-5.1*", "gpt-5.2*", "gpt-5.3*", "gpt-5.4*", "gpt-5.5*", "codex*"],
    source: "OpenAI API reference, prompt_cache_options: supported for GPT-5.6 and later models",
    seen: "2026-11",
    facts: { hasCacheBreakpoints: false },
  },
  {
    models: ["gpt-5", "gpt-5-*", "gpt-5.1*", "gpt-5.2*", "gpt-5.3*", "gpt-5.4*", "gpt-5.5*", "codex*"],
    source: "pydantic/pydantic-ai, profile of OpenAI: Tool choice not found in 'tools' parameter, before GPT-5.6",
    seen: "2026-11",
    facts: { hasAddedToolChoice: false },
  },
  {
    models: ["gpt-5", "gpt-5-*", "gpt-5.1*", "gpt-5.2*", "gpt-5.3*", "gpt-5.4-nano*", "codex*"],
    source: "OpenAI, guide Tool search: GPT-5.4 and later models; model page of GPT-5.4 nano",
    seen: "2026-11",
    facts: { hasToolSearch: false },
  },
  {
    models: ["gpt-6-sol*", "gpt-6-luna*", "gpt-6.1-terra*", "gpt-5.6*"],
    source: "OpenAI, guide Using GPT-6; model pages",
    seen: "2026-11",
    facts: { efforts: ["none", ...UP_TO_MAX], defaultEffort: "medium" },
  },
  {
    models: ["gpt-5", "gpt-5-*", "gpt-5.1*", "gpt-5.2*", "gpt-5.3*", "gpt-5.4*", "gpt-5.5*", "codex*"],
    source: "OpenAI, guide Using GPT-6.2: models before GPT-5.6 put instructions first",
    seen: "2026-11",
    facts: { hasInstructionsInInput: false },
  },
  {
    models: ["gpt-5.5*"],
    source: `${CHAT_REFERENCE}; model page of GPT-5.5`,
    seen: "2026-11",
    facts: { efforts: ["none", ...UP_TO_XHIGH], defaultEffort: "medium" },
  },
  {
    models: ["gpt-5.4*"],
    source: `${CHAT_REFERENCE}; openai/openai-openapi#541`,
    seen: "2026-11",
    facts: { efforts: ["none", ...UP_TO_XHIGH], defaultEffort: "none" },
  },
  {
    models: ["gpt-5.3*", "gpt-5.2*"],
    source: "OpenAI, guide Using GPT-5.2",
    seen: "2026-11",
    facts: { efforts: ["none", ...UP_TO_XHIGH], defaultEffort: "none", chatTools: "always" },
  },
  {
    models: ["gpt-5.1*"],
    source: `${CHAT_REFERENCE}, reasoning_effort`,
    seen: "2026-11",
    facts: { efforts: ["none", ...UP_TO_HIGH], defaultEffort: "none", chatTools: "always" },
  },
  {
    models: ["gpt-5", "gpt-5-*", "codex*"],
    source: `${CHAT_REFERENCE}, reasoning_effort`,
    seen: "2026-11",
    facts: {
      ...ALWAYS_REASONS,
      efforts: ["minimal", ...UP_TO_HIGH],
      defaultEffort: "medium",
      chatTools: "always",
    },
  },
  {
    models: ["gpt-5-codex*", "codex*", "gpt-5.1-codex*"],
    source: "OpenAI, model pages of the Codex models",
    seen: "2026-11",
    facts: { ...ALWAYS_REASONS, efforts: UP_TO_HIGH, defaultEffort: "medium" },
  },
  {
    models: ["gpt-5.1-codex-max*", "gpt-5.2-codex*", "gpt-5.3-codex*"],
    source: "OpenAI, model pages of the Codex models",
    seen: "2026-11",
    facts: { ...ALWAYS_REASONS, efforts: UP_TO_XHIGH, defaultEffort: "medium" },
  },
  {
    models: ["gpt-*-pro"],
    source: "OpenAI, model pages of the pro models",
    seen: "2026-11",
    facts: {
      ...ALWAYS_REASONS,
      efforts: ["medium", "high", "xhigh"],
      defaultEffort: "medium",
    },
  },
  {
    models: ["gpt-5-pro"],
    source: "OpenAI, model page of GPT-5 pro",
    seen: "2026-11",
    facts: { efforts: ["high"], defaultEffort: "high" },
  },
  {
    models: ["gpt-*-pro", "gpt-*codex*", "codex*"],
    source: "OpenAI, model pages of the pro and Codex models: Responses API only; openai/codex#4136",
    seen: "2026-11",
    facts: { hasChat: false },
  },
  {
    models: ["o1*", "o3*", "o4*"],
    source: "OpenAI, guide Reasoning models",
    seen: "2026-11",
    facts: {
      ...ALWAYS_REASONS,
      canReason: true,
      reasoningControl: "effort",
      efforts: UP_TO_HIGH,
      defaultEffort: "medium",
      chatTools: "always",
      hasChatStop: false,
      hasChatMaxTokens: false,
      minCacheTokens: 1_024,
      hasCacheBreakpoints: false,
      hasToolSearch: false,
      hasAddedToolChoice: false,
    },
  },
  {
    models: ["o1-pro", "o3-pro", "o3-deep-research*", "o4-mini-deep-research*"],
    source: "OpenAI, model pages: Responses API only",
    seen: "2026-11",
    facts: { hasChat: false },
  },
  {
    models: ["gpt-3*", "gpt-4*", "chatgpt-*", "gpt-*-chat*"],
    source: CHAT_REFERENCE,
    seen: "2026-11",
    facts: {
      ...UNKNOWN_FACTS,
      canReason: false,
      samplingSupport: "always",
      chatTools: "always",
      hasChatStop: true,
      hasChatMaxTokens: true,
      minCacheTokens: 1_024,
      hasCacheBreakpoints: false,
      hasToolSearch: false,
      hasAddedToolChoice: false,
    },
  },
  {
    models: ["gpt-4o-search*", "gpt-4o-mini-search*"],
    source: "OpenAI, guide Web search",
    seen: "2026-11",
    facts: { samplingSupport: "never" },
  },
  {
    models: ["gpt-oss*"],
    source: "OpenAI, gpt-oss model card: reasoning levels; pydantic/pydantic-ai, profile for Groq",
    seen: "2026-11",
    facts: {
      ...UNKNOWN_FACTS,
      hasCompatibleChat: true,
      canReason: true,
      efforts: UP_TO_HIGH,
      defaultEffort: "medium",
    },
  },
  {
    models: ["gpt-image*", "gpt-realtime*", "gpt-audio*", "gpt-live*", "gpt-transcribe*"],
    source: "OpenAI, model pages: other interfaces, or served by other vendors",
    seen: "2026-11",
    facts: UNKNOWN_FACTS,
  },
];
