import { type GatewayError, invalidField } from "../../../../platform/lib/basics/gateway_error.ts";
import type { JsonObject } from "../../../../platform/lib/json/json_object.ts";
import { type Effort, EFFORTS } from "../../../neutral/conversation.ts";
import { nearestEffort } from "../../../parts/request/effort.ts";
import type { ModelFacts } from "../../../facts/model_facts.ts";
import type { FactTarget, FormatRefusals } from "../../../contract/upstream_format.ts";
import { listOf, objectOf, objectsOf, textOf } from "../../../neutral/wire_value.ts";
import { isRelayed, refusesStop, wantsSchema } from "./model_rules.ts";

/**
 * Returns the fields that chat completions refuses for a model and the vendor's other endpoint takes: function tools
 * while the model reasons, an effort that only `/responses` has, stop sequences, and the schema of a reply. Source: the
 * facts of the model. Documents are refused by some vendors for all models.
 * Relays that take OpenRouter's objects choose the endpoint themselves, so nothing is refused there.
 *
 * @param body The request's members, as the caller sent them.
 */
function refusedFields(body: JsonObject, target: FactTarget): readonly string[] {
  const { facts, quirks } = target;
  if (quirks.has("no_file_parts") && hasFiles(body)) return FILES;
  if (!mayRefuseInChat(facts) || isRelayed(target)) return NONE;
  const requested = requestedEffort(body);
  const effort = effectiveEffort(requested, facts);
  const refused: string[] = [];
  if (hasFunctions(body) && !takesTools(facts, effort)) refused.push("tools");
  if (requested !== null && isOnlyOutsideOfChat(effort, facts)) refused.push("reasoning_effort");
  if (hasStop(body) && refusesStop(facts, effort)) refused.push("stop");
  if (facts.hasChatSchemas === false && wantsSchema(body)) refused.push("response_format");
  return refused;
}

const NONE: readonly string[] = [];
const FILES: readonly string[] = ["file"];

function hasFiles({ messages }: JsonObject): boolean {
  return objectsOf(messages).some(({ content }) => objectsOf(content).some(({ type }) => type === "file"));
}

function mayRefuse(
  offered: { readonly tools: boolean; readonly stop: boolean; readonly files: boolean },
  target: FactTarget,
): boolean {
  const { facts, quirks } = target;
  if (offered.files && quirks.has("no_file_parts")) return true;
  if (isRelayed(target) || facts.canReason === false) return false;
  return (facts.chatTools === "without_reasoning" && offered.tools) || (facts.hasChatStop === false && offered.stop);
}

/** What models refuse at chat completions only. */
export const CHAT_REFUSALS: FormatRefusals = { refusedFields, mayRefuse, exclusiveField: onlyInChat };

function mayRefuseInChat({ chatTools, chatEfforts, hasChatStop, hasChatSchemas }: ModelFacts): boolean {
  return hasChatStop === false || hasChatSchemas === false || chatEfforts !== null ||
    (chatTools !== null && chatTools !== "always");
}

/** The effort that a chat request names, in either spelling; null for none and for a word that is no effort. */
export function requestedEffort(body: JsonObject): Effort | null {
  const word = textOf(body.reasoning_effort) || textOf(objectOf(body.reasoning)?.effort);
  return EFFORTS.find((effort) => effort === word) ?? null;
}

/** The effort at which a model works for a request: the nearest that it has, or its default; null if not known. */
export function effectiveEffort(requested: Effort | null, { efforts, defaultEffort }: ModelFacts): Effort | null {
  if (requested === null) return defaultEffort;
  return efforts === null || efforts.length === 0 ? requested : nearestEffort(requested, efforts);
}

/** The efforts of a model that chat completions accepts; null if they are not known. */
export function effortsInChat({ efforts, chatEfforts }: ModelFacts): readonly Effort[] | null {
  if (efforts === null || chatEfforts === null) return efforts;
  return efforts.filter((effort) => chatEfforts.includes(effort));
}

/** Whether chat completions takes function tools for a model at an effort; null is the default of the model. */
export function takesTools({ chatTools, canReason }: ModelFacts, effort: Effort | null): boolean {
  if (chatTools === "without_reasoning") return canReason === false || effort === "none";
  return chatTools !== "never";
}

function isOnlyOutsideOfChat(effort: Effort | null, { efforts, chatEfforts }: ModelFacts): boolean {
  return effort !== null && chatEfforts !== null && efforts?.includes(effort) === true && !chatEfforts.includes(effort);
}

/** Whether a chat request offers functions. Custom tools are not refused. */
export function hasFunctions({ tools, functions }: JsonObject): boolean {
  return listOf(functions).length > 0 || listOf(tools).some((tool) => objectOf(tool)?.type === "function");
}

function hasStop({ stop }: JsonObject): boolean {
  return typeof stop === "string" ? stop !== "" : listOf(stop).length > 0;
}

/** The first field that only chat completions has: several choices, or speech; null for none. */
export function onlyInChat({ n, modalities, audio }: JsonObject): "n" | "modalities" | null {
  if (typeof n === "number" && n > 1) return "n";
  return listOf(modalities).includes("audio") || objectOf(audio) !== null ? "modalities" : null;
}

/**
 * The refusal of function tools for a model that always reasons, where only chat completions can serve the request.
 *
 * @param field The field that only chat completions has; null if the provider has no other endpoint.
 */
export function toolsRefusedInChat(model: string, field: "n" | "modalities" | null): GatewayError {
  const reason = `"${model}" refuses function tools at chat completions, because it always reasons`;
  if (field === null) {
    return invalidField("tools", `${reason}; the provider needs "speaks: both" or "speaks: responses" in its settings`);
  }
  return invalidField(field, `${reason}, and its other endpoint has no "${field}"; expected none next to "tools"`);
}
