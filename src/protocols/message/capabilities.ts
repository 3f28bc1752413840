import type { Model } from "../../vendors/catalog/model.ts";
import { modelFacts } from "../../conversation/models/known_models.ts";
import { NO_QUIRKS } from "../../conversation/contract/quirks.ts";
import { traitsOf } from "../../conversation/codecs/messages/upstream/model_traits.ts";

/** Whether a model supports a feature. */
interface Support {
  readonly supported: boolean;
}

/** How the providers of a model serve callers of the message protocol. */
export interface MessageService {
  /** Whether all of them use it, so that requests pass unchanged. */
  readonly passes: boolean;
  /** Whether one of them may search the web for a translated request. */
  readonly searches: boolean;
}

/** The member `capabilities` of a model. Source: Messages API reference, "Models", `ModelCapabilities`. */
export interface Capabilities {
  readonly batch: Support;
  readonly citations: Support;
  readonly code_execution: Support;
  readonly context_management: Support & Readonly<Record<typeof STRATEGIES[number], Support>>;
  readonly effort: Support & Readonly<Record<typeof EFFORTS[number], Support>>;
  readonly image_input: Support;
  readonly pdf_input: Support;
  readonly server_tools: Support & Readonly<Record<"code_execution" | "web_search", Support>>;
  readonly structured_outputs: Support;
  readonly thinking: Support & { readonly types: Readonly<Record<typeof THINKING_TYPES[number], Support>> };
}

const STRATEGIES = ["clear_thinking_20251015", "clear_tool_uses_20250919", "compact_20260112"] as const;
const EFFORTS = ["low", "medium", "high", "xhigh", "max"] as const;
const THINKING_TYPES = ["adaptive", "between_tools", "disabled", "enabled"] as const;

/**
 * The features of a model for callers of the message protocol. For a translated model they come from the catalog and
 * from what the translation supports. For a Claude model behind its author's own protocol they come from the version in
 * its name. False if unknown. Batches are not supported.
 *
 * @param service How the model's providers serve such callers.
 */
export function capabilitiesOf(model: Model, { passes, searches }: MessageService): Capabilities {
  const claude = passes ? claudeNameOf(model) : null;
  const thinking = claude === null ? translatedThinking(model) : claudeThinking(claude);
  const does = claude === null ? NOTHING : claudeFeatures(claude);
  const takes = (modality: Model["architecture"]["inputModalities"][number]) =>
    model.architecture.inputModalities.includes(modality);
  return {
    batch: support(false),
    citations: support(does.citations),
    code_execution: support(does.codeExecution),
    context_management: group(STRATEGIES, does.strategies),
    effort: group(EFFORTS, thinking.efforts),
    image_input: support(takes("image")),
    pdf_input: support(takes("file") || (claude !== null && takes("image"))),
    server_tools: group(["code_execution", "web_search"], [
      ...does.codeExecution ? ["code_execution"] : [],
      ...does.webSearch || searches ? ["web_search"] : [],
    ]),
    structured_outputs: support(does.schemas || model.supportedParameters.includes("response_format")),
    thinking: { ...support(thinking.reasons), types: members(THINKING_TYPES, thinking.types) },
  };
}

/** The family of a Claude model, such as `opus`; null for others. */
export function claudeFamilyOf(model: Model): string | null {
  return /claude-(?:[\d.-]+-)?(haiku|sonnet|opus|fable|mythos)\b/.exec(claudeNameOf(model) ?? "")?.[1] ?? null;
}

interface Thinking {
  readonly reasons: boolean;
  readonly types: readonly string[];
  readonly efforts: readonly string[];
}

/** Every type and effort is translated to the vendor's settings. */
function translatedThinking(model: Model): Thinking {
  if (!model.supportedParameters.includes("reasoning")) return { reasons: false, types: ["disabled"], efforts: [] };
  return { reasons: true, types: ["adaptive", "disabled", "enabled"], efforts: EFFORTS };
}

/** Source: Messages API reference, "Adaptive thinking", "Extended thinking" and "Effort". */
function claudeThinking(name: string): Thinking {
  const { thinking, efforts, off, takesBudgets } = claudeTraits(name);
  if (thinking === "none") return { reasons: false, types: ["disabled"], efforts: [] };
  const types = [
    ...thinking === "adaptive" ? ["adaptive"] : [],
    ...off === "disabled" ? ["disabled"] : [],
    ...takesBudgets ? ["enabled"] : [],
  ];
  return {
    reasons: true,
    types,
    efforts: thinking === "adaptive" ? efforts : FIRST_EFFORTS.test(name) ? OLDEST_EFFORTS : [],
  };
}

/** The only model that supports both a budget and an effort. Source: Messages API reference, "Effort". */
const FIRST_EFFORTS = /claude-opus-4-5/;
const OLDEST_EFFORTS = ["low", "medium", "high"];

interface Features {
  readonly citations: boolean;
  readonly codeExecution: boolean;
  readonly webSearch: boolean;
  readonly schemas: boolean;
  readonly strategies: readonly string[];
}

const NOTHING: Features = {
  citations: false,
  codeExecution: false,
  webSearch: false,
  schemas: false,
  strategies: [],
};

/** Source: Messages API reference, "Citations", "Code execution", "Web search", "Context editing" and "Compaction". */
function claudeFeatures(name: string): Features {
  const { thinking, takesBothSamplings, takesSchemas } = claudeTraits(name);
  const isFourth = !takesBothSamplings;
  return {
    citations: true,
    codeExecution: isFourth,
    webSearch: isFourth,
    schemas: takesSchemas,
    strategies: !isFourth ? [] : thinking === "adaptive" ? STRATEGIES : STRATEGIES.slice(0, 2),
  };
}

function claudeTraits(name: string) {
  return traitsOf({ facts: modelFacts(name, { id: name, supportedParameters: [] }), quirks: NO_QUIRKS });
}

/** The vendor's name of a Claude model with a version; null for all others. */
function claudeNameOf(model: Model): string | null {
  const names = model.serves.map((serving) => serving.model.toLowerCase());
  const [first = null] = names;
  return names.every((name) => /claude-.*\d/.test(name)) ? first : null;
}

function support(supported: boolean): Support {
  return { supported };
}

function group<Name extends string>(names: readonly Name[], present: readonly string[]) {
  return { ...support(present.length > 0), ...members(names, present) };
}

function members<Name extends string>(names: readonly Name[], present: readonly string[]): Record<Name, Support> {
  return Object.fromEntries(names.map((name) => [name, support(present.includes(name))])) as Record<Name, Support>;
}
