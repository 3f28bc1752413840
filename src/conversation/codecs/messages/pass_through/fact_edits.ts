import type { JsonObject } from "../../../../platform/lib/json/json_object.ts";
import { type Effort, EFFORTS } from "../../../neutral/conversation.ts";
import { effortForShare, nearestEffort } from "../../../parts/request/effort.ts";
import { type MemberChanges, type MemberEdits, NO_MEMBER_EDITS } from "../../../parts/request/member_edits.ts";
import type { ModelFacts } from "../../../facts/model_facts.ts";
import type { PassThroughRequest } from "../../../contract/pass_through.ts";
import { isAbsent, isObject, listOf, numberOrNull, objectOf } from "../../../neutral/wire_value.ts";
import { continuedTurn } from "../shared/continued_turn.ts";
import { changeToBudget } from "./budget_edits.ts";
import { ownValue } from "../../../../platform/lib/collections/own_value.ts";

/** Assumed length of the reply, to convert a budget when the request sets no limit. */
const DEFAULT_OUTPUT_TOKENS = 8_192;

const SAMPLING_DEFAULTS: Readonly<Record<string, unknown>> = { temperature: 1, top_p: 1, top_k: undefined };

/**
 * Changes what a model of Anthropic refuses to the nearest that it takes, or leaves it out: sampling settings, thinking
 * budgets, efforts, forced calls, an answer that the caller began, and system messages in the middle.
 * Source: the facts of the model.
 */
export function factEditsOf({ body, facts: known, quirks, wholeBody }: PassThroughRequest): MemberEdits {
  const facts = quirks.has("no_system_turns") ? { ...known, hasSystemTurns: false } : known;
  if (facts.canReason === null && facts.samplingSupport === null && facts.forcedCalls === null) return NO_MEMBER_EDITS;
  const changes: MemberChanges = { set: {}, remove: [], droppedFields: [] };
  removeSampling(body, facts, changes);
  const thinks = changeThinking(body, facts, changes);
  changeChoice(body, facts, thinks, changes);
  changeMessages(body, wholeBody, facts, changes);
  return changes;
}

function removeSampling(body: JsonObject, { samplingSupport }: ModelFacts, changes: MemberChanges): void {
  const names = samplingSupport === "never"
    ? Object.keys(SAMPLING_DEFAULTS)
    : samplingSupport === "one" && !isAbsent(body.temperature)
    ? ["top_p"]
    : [];
  for (const name of names) {
    if (isAbsent(body[name])) continue;
    changes.remove.push(name);
    if (body[name] !== ownValue(SAMPLING_DEFAULTS, name)) changes.droppedFields.push(name);
  }
}

/** Returns whether the model thinks about the changed request. */
function changeThinking(body: JsonObject, facts: ModelFacts, changes: MemberChanges): boolean {
  if (facts.canReason === false || facts.reasoningControl === "budget") return changeToBudget(body, facts, changes);
  const thinking = objectOf(body.thinking);
  const config = objectOf(body.output_config) ?? {};
  const requested = EFFORTS.find((effort) => effort === config.effort) ?? null;
  let effort = requested;
  let thinks = thinking !== null;
  if (thinking?.type === "enabled" && facts.hasThinkingBudgets === false) {
    const { budget_tokens: budget, ...others } = thinking;
    changes.set.thinking = { ...others, type: "adaptive" };
    changes.droppedFields.push("reasoning_budget");
    effort ??= effortOfBudget(numberOrNull(budget), body, facts);
  } else if (thinking?.type === "disabled" || thinking?.type === "between_tools") {
    thinks = false;
    effort = switchOff(thinking, effort, facts, changes);
  }
  const known: readonly Effort[] = facts.efforts?.filter((each) => each !== "none") ?? [];
  if (effort !== null && known.length > 0 && !known.includes(effort)) effort = nearestEffort(effort, known);
  if (effort !== requested) {
    changes.set.output_config = { ...config, effort };
    if (requested !== null) changes.droppedFields.push("reasoning_effort");
  }
  return thinks;
}

/** Switches thinking off as the model allows it, and returns the effort that it then takes. */
function switchOff(
  thinking: JsonObject,
  effort: Effort | null,
  { thinkingOff, offEfforts, efforts }: ModelFacts,
  changes: MemberChanges,
): Effort | null {
  if (thinkingOff === "never") {
    changes.remove.push("thinking");
    changes.droppedFields.push("reasoning");
    return effort ?? efforts?.[0] ?? null;
  }
  if (thinkingOff !== null && thinkingOff !== thinking.type) changes.set.thinking = { ...thinking, type: thinkingOff };
  return effort !== null && offEfforts !== null ? nearestEffort(effort, offEfforts) : effort;
}

function effortOfBudget(budget: number | null, body: JsonObject, { efforts }: ModelFacts): Effort | null {
  if (budget === null) return null;
  const share = budget / (numberOrNull(body.max_tokens) ?? DEFAULT_OUTPUT_TOKENS);
  const [first, ...others] = efforts?.filter((effort) => effort !== "none") ?? [];
  return first === undefined ? null : effortForShare(share, [first, ...others]);
}

/** A call cannot be forced at some models, and beside thinking not at others. */
function changeChoice(body: JsonObject, { forcedCalls }: ModelFacts, thinks: boolean, changes: MemberChanges): void {
  const choice = objectOf(body.tool_choice);
  if (choice?.type !== "any" && choice?.type !== "tool") return;
  if (forcedCalls === "never") {
    const { name: _name, ...others } = choice;
    changes.set.tool_choice = { ...others, type: "auto" };
    changes.droppedFields.push("tool_choice");
  } else if (forcedCalls === "without_reasoning" && thinks) {
    changes.set.thinking = { type: "disabled" };
    changes.droppedFields.push("reasoning");
  }
}

function changeMessages(
  body: JsonObject,
  wholeBody: () => JsonObject,
  { canPrefill, hasSystemTurns }: ModelFacts,
  { set, droppedFields }: MemberChanges,
): void {
  const outline = listOf(body.messages);
  const isPrefilled = canPrefill === false && objectOf(outline.at(-1))?.role === "assistant";
  const hasRefusedTurn = hasSystemTurns === false && outline.some((each) => objectOf(each)?.role === "system");
  if (!isPrefilled && !hasRefusedTurn) return;
  const messages = listOf(wholeBody().messages);
  const allowed = hasRefusedTurn ? messages.map(withoutSystemRole) : messages;
  set.messages = isPrefilled ? [...allowed, continuedTurn()] : allowed;
  if (isPrefilled) droppedFields.push("turn_order");
  if (hasRefusedTurn) droppedFields.push("system_turn");
}

/** A system message as marked text of the user. */
function withoutSystemRole(message: unknown): unknown {
  if (!isObject(message) || message.role !== "system") return message;
  const texts = typeof message.content === "string"
    ? [{ type: "text", text: message.content }]
    : listOf(message.content);
  const open = { type: "text", text: "<system-reminder>" };
  const close = { type: "text", text: "</system-reminder>" };
  return { role: "user", content: [open, ...texts, close] };
}
