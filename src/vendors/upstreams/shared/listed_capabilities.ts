import type { JsonObject } from "../../../platform/lib/json/json_object.ts";
import { type Effort, EFFORTS } from "../../../conversation/neutral/conversation.ts";
import type { ModelFacts } from "../../../conversation/facts/model_facts.ts";
import { objectOf } from "../../../conversation/neutral/wire_value.ts";

/** What a vendor's list says about a model: nothing where it is silent or says something of another type. */
export interface ListedCapabilities {
  readonly facts: Partial<ModelFacts>;
  /** In the terms of the catalog; null if the list does not say. */
  readonly inputModalities: readonly string[] | null;
}

/**
 * Reads the `capabilities` of a model in Anthropic's list. Source: @anthropic-ai/sdk 1.14.0, `ModelInfo`: a type of
 * thinking is false exactly when a request with it gets a 400.
 */
export function anthropicCapabilities({ capabilities }: JsonObject): ListedCapabilities {
  const listed = objectOf(capabilities) ?? {};
  const thinking = objectOf(listed.thinking);
  const schemas = support(listed.structured_outputs);
  const images = support(listed.image_input);
  const files = support(listed.pdf_input);
  const inputs = images === null && files === null
    ? null
    : ["text", ...images ? ["image"] : [], ...files ? ["file"] : []];
  return {
    facts: {
      ...(thinking !== null && thinkingFacts(thinking)),
      ...effortFacts(objectOf(listed.effort), objectOf(thinking?.types)),
      ...(schemas !== null && { hasOutputSchemas: schemas, hasOutputSchemasWithTools: schemas }),
    },
    inputModalities: inputs,
  };
}

/** Reads what Google's list says of a model. Source: @google/genai 3.3.0, `Model.thinking`. */
export function googleCapabilities({ thinking }: JsonObject): ListedCapabilities {
  return { facts: typeof thinking === "boolean" ? { canReason: thinking } : {}, inputModalities: null };
}

function support(value: unknown): boolean | null {
  const supported = objectOf(value)?.supported;
  return typeof supported === "boolean" ? supported : null;
}

function thinkingFacts(thinking: JsonObject): Partial<ModelFacts> {
  const canReason = support(thinking);
  const types = objectOf(thinking.types) ?? {};
  const [adaptive, enabled] = [support(types.adaptive), support(types.enabled)];
  const off = offOf(types);
  const control = adaptive === true ? "effort" : adaptive === false && enabled === true ? "budget" : null;
  return {
    ...(canReason !== null && { canReason }),
    ...(enabled !== null && { hasThinkingBudgets: enabled }),
    ...(control !== null && { reasoningControl: control }),
    ...(off !== null && canReason !== false && { thinkingOff: off }),
  };
}

/** How thinking is switched off; null unless the list says it. */
function offOf(types: JsonObject): "disabled" | "between_tools" | "never" | null {
  const [disabled, betweenTools] = [support(types.disabled), support(types.between_tools)];
  if (disabled === true) return "disabled";
  if (betweenTools === true) return "between_tools";
  return disabled === false && betweenTools === false ? "never" : null;
}

/** The efforts of a model, with `none` where thinking can be switched off. */
function effortFacts(effort: JsonObject | null, types: JsonObject | null): Partial<ModelFacts> {
  const isSupported = support(effort);
  if (effort === null || isSupported === null) return {};
  if (!isSupported) return { efforts: null, defaultEffort: null };
  const levels = EFFORTS.filter((name) => support(effort[name]) === true);
  if (levels.length === 0) return {};
  const canBeOff = types !== null && offOf(types) !== null && offOf(types) !== "never";
  const efforts: readonly Effort[] = canBeOff ? ["none", ...levels] : levels;
  return { efforts };
}
