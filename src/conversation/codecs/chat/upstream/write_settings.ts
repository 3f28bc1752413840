import type { JsonObject } from "../../../../platform/lib/json/json_object.ts";
import type { RequestTarget } from "../../../contract/upstream_format.ts";
import type { Conversation, Effort, Sampling } from "../../../neutral/conversation.ts";
import { adaptiveEffort, COMMON_EFFORTS, effortForShare, nearestEffort } from "../../../parts/request/effort.ts";
import { MAX_HINT_CHARACTERS } from "../../../parts/request/member_edits.ts";
import { shortHash, truncateName } from "../../../parts/request/sanitized_name.ts";
import { requiresCall } from "../../../parts/request/required_call.ts";
import { takesSampling } from "../../../parts/request/sampling.ts";
import { effectiveEffort, effortsInChat, takesTools, toolsRefusedInChat } from "../shared/refused_in_chat.ts";
import { forcedCallPlan, isOwnModel, isRelayed, refusesStop } from "../shared/model_rules.ts";
import { refusesEfforts, vendorFieldsFor } from "../shared/vendor_fields.ts";
import { writeSharedSettings } from "./shared_settings.ts";
import type { Writing } from "./writing.ts";

const MAX_STOP_SEQUENCES = 4;
const MAX_USER_CHARACTERS = 64;
/** Assumed length of the reply, to convert a budget when neither request nor model has a limit. */
const DEFAULT_OUTPUT_TOKENS = 32_000;

/** Writes everything except messages, tools and the output format. */
export function writeSettings(conversation: Conversation, writing: Writing): JsonObject {
  const { quirks } = writing.target;
  const reasoning = withoutForcedReasoning(conversation, writeReasoningSettings(conversation, writing), writing);
  addDroppedReasoning(conversation.reasoning, reasoning.effort, writing);
  return {
    ...writeLimit(conversation, writing.target),
    ...writeSampling(conversation.sampling, reasoning.effort, writing),
    ...reasoning.fields,
    ...writeHints(conversation, writing),
    ...writeSharedSettings(conversation, !takesSampling(writing.target.facts, reasoning.effort), writing),
    ...(conversation.stream && { stream: true }),
    // Usage is always requested, because the caller is charged by it.
    ...(conversation.stream && !quirks.has("no_stream_options") && { stream_options: { include_usage: true } }),
  };
}

/** OpenAI's reasoning models reject `max_tokens`; some other vendors support only it. */
function writeLimit({ maxOutputTokens }: Conversation, { quirks }: RequestTarget): JsonObject {
  if (maxOutputTokens === null) return {};
  return { [quirks.has("max_tokens_field") ? "max_tokens" : "max_completion_tokens"]: maxOutputTokens };
}

/** Reports dropped reasoning settings: this format has an effort, but no budget or visibility. */
function addDroppedReasoning(
  reasoning: Conversation["reasoning"],
  effort: Effort | null,
  { droppedFields }: Writing,
): void {
  if (reasoning === null) return;
  if (reasoning.visible !== null) droppedFields.add("reasoning_visibility");
  if (reasoning.effort !== null && reasoning.budgetTokens !== null) droppedFields.add("reasoning_budget");
  if (effort === null && reasoning.effort !== "none") droppedFields.add("reasoning");
}

function writeSampling(sampling: Sampling, effort: Effort | null, { target, droppedFields }: Writing): JsonObject {
  const { facts } = target;
  const isRefused = !takesSampling(facts, effort);
  const refusesPenalties = isOwnModel(target) && facts.hasPenalties === false;
  const body: JsonObject = {};
  const put = (name: string, value: number | null, defaultValue: number, isLeftOut = isRefused) => {
    if (value === null) return;
    if (isLeftOut && value !== defaultValue) droppedFields.add(name);
    else if (!isLeftOut) body[name] = value;
  };
  put("temperature", sampling.temperature, 1);
  put("top_p", sampling.topP, 1);
  put("presence_penalty", sampling.presencePenalty, 0, isRefused || refusesPenalties);
  put("frequency_penalty", sampling.frequencyPenalty, 0, isRefused || refusesPenalties);
  if (sampling.seed !== null) body[target.quirks.has("random_seed_field") ? "random_seed" : "seed"] = sampling.seed;
  if (sampling.topK !== null) droppedFields.add("top_k");
  const refusesStops = (isRefused && facts.canReason === true) || (isOwnModel(target) && refusesStop(facts, effort));
  if (sampling.stop.length > MAX_STOP_SEQUENCES || (refusesStops && sampling.stop.length > 0)) {
    droppedFields.add("stop");
  }
  if (!refusesStops && sampling.stop.length > 0) body.stop = sampling.stop.slice(0, MAX_STOP_SEQUENCES);
  return body;
}

interface ReasoningSettings {
  /** The requested effort; null for none. */
  readonly effort: Effort | null;
  readonly fields: JsonObject;
}

/** The requested effort by the names that the model and its vendor support. */
function writeReasoningSettings(conversation: Conversation, { target, droppedFields }: Writing): ReasoningSettings {
  const { facts, quirks } = target;
  const requested = conversation.reasoning?.effort ?? effortOfBudget(conversation, target.maxOutputTokens) ??
    (facts.canReason === true ? adaptiveEffort(conversation.reasoning) : null);
  if (refusesTools(conversation, requested, target)) {
    if (facts.efforts?.includes("none") === false) throw toolsRefusedInChat(target.model, null);
    if (requested !== null && requested !== "none") droppedFields.add("reasoning");
    return { effort: "none", fields: { reasoning_effort: "none" } };
  }
  if (requested === null) return { effort: null, fields: {} };
  if (facts.canReason === false) {
    if (requested !== "none") droppedFields.add("reasoning");
    return { effort: null, fields: {} };
  }
  if (requested === "none" && hasSwitch(target)) return { effort: requested, fields: SWITCHED_OFF };
  const fields = vendorFieldsFor(quirks);
  if (fields !== null && refusesEfforts(fields, target.model, requested)) {
    droppedFields.add("reasoning_effort");
    return { effort: null, fields: {} };
  }
  const known = effortsInChat(facts) ?? fields?.efforts ??
    (quirks.has("three_efforts") ? COMMON_EFFORTS : null);
  if (known === null) return { effort: requested, fields: { reasoning_effort: requested } };
  if (requested === "none" && !known.includes("none")) {
    droppedFields.add("reasoning");
    // The effect of `none` on an unknown model is not known, so it is not sent.
    if (facts.efforts === null) return { effort: null, fields: {} };
  }
  if (known.length === 0) return { effort: null, fields: {} };
  const effort = nearestEffort(requested, known);
  return { effort, fields: { reasoning_effort: effort } };
}

const SWITCHED_OFF: JsonObject = { thinking: { type: "disabled" } };

/** Whether reasoning is switched off by the object `thinking`. */
function hasSwitch(target: RequestTarget): boolean {
  const { facts, quirks } = target;
  if (facts.thinkingOff === "never") return false;
  return quirks.has("thinking_switch") || (isOwnModel(target) && facts.thinkingOff === "disabled");
}

/** Switches reasoning off for a forced call that the model takes only then. */
function withoutForcedReasoning(
  conversation: Conversation,
  settings: ReasoningSettings,
  { target, droppedFields }: Writing,
): ReasoningSettings {
  const reasons = target.facts.canReason === true && settings.effort !== "none";
  if (!requiresCall(conversation.toolChoice) || !isOwnModel(target)) return settings;
  if (forcedCallPlan(target.facts, reasons) !== "without_reasoning") return settings;
  if (conversation.reasoning !== null) droppedFields.add("reasoning");
  return { effort: "none", fields: SWITCHED_OFF };
}

/** Whether chat completions refuses the conversation's functions at an effort. Relays choose another endpoint. */
function refusesTools({ tools }: Conversation, requested: Effort | null, target: RequestTarget): boolean {
  const { facts } = target;
  if (isRelayed(target) || !tools.some(({ kind }) => kind === "function")) return false;
  return !takesTools(facts, effectiveEffort(requested, facts));
}

function effortOfBudget({ reasoning, maxOutputTokens }: Conversation, modelLimit: number | null): Effort | null {
  if (!reasoning || reasoning.budgetTokens === null) return null;
  const share = reasoning.budgetTokens / (maxOutputTokens ?? modelLimit ?? DEFAULT_OUTPUT_TOKENS);
  return effortForShare(share, COMMON_EFFORTS);
}

function writeHints({ user, cacheKey, verbosity }: Conversation, { target, droppedFields }: Writing): JsonObject {
  const { quirks } = target;
  const body: JsonObject = {};
  // A longer id is replaced by its hash: vendors only use it to distinguish users.
  if (user !== null && quirks.has("no_user_field")) droppedFields.add("user");
  else if (user !== null) body.user = user.length <= MAX_USER_CHARACTERS ? user : `user_${shortHash(user, 16)}`;
  if (cacheKey !== null && quirks.has("no_prompt_cache_key")) droppedFields.add("prompt_cache_key");
  else if (cacheKey !== null) body.prompt_cache_key = truncateName(cacheKey, MAX_HINT_CHARACTERS);
  if (verbosity !== null && quirks.has("no_verbosity")) droppedFields.add("verbosity");
  else if (verbosity !== null) body.verbosity = verbosity;
  return body;
}
