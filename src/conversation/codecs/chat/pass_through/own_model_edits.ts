import type { JsonObject } from "../../../../platform/lib/json/json_object.ts";
import { editedValue } from "../../../parts/request/body_edits.ts";
import { type MemberChanges, type MemberEdits, NO_MEMBER_EDITS } from "../../../parts/request/member_edits.ts";
import type { PassThroughRequest } from "../../../contract/pass_through.ts";
import { describedSchema } from "../../../schemas/described_keywords.ts";
import { isAbsent, isObject, listOf, objectOf, objectsOf, textOf } from "../../../neutral/wire_value.ts";
import { forcedCallPlan, isOwnModel, wantsSchema, withToolReasoning } from "../shared/model_rules.ts";

/**
 * Changes what a compatible vendor refuses for its own models: the switch of reasoning, forced calls, penalties, the
 * name of the output limit, schemas of replies, and earlier calls without reasoning. Source: the facts of the model.
 *
 * @param replaced The members that other edits set, such as the effort.
 * @param bytes The body after edits of its messages.
 */
export function ownModelEditsOf(request: PassThroughRequest, replaced: JsonObject, bytes: Uint8Array): MemberEdits {
  const { body, facts } = request;
  if (!isOwnModel(request)) return NO_MEMBER_EDITS;
  const changes: MemberChanges = { set: {}, remove: [], droppedFields: [] };
  const sent = { ...body, ...replaced };
  const reasons = changeChoice(sent, request, changeSwitch(sent, request, changes), changes);
  if (facts.hasPenalties === false) removePenalties(body, changes);
  if (facts.hasChatCompletionLimit === false && !isAbsent(body.max_completion_tokens)) {
    changes.remove.push("max_completion_tokens");
    if (isAbsent(body.max_tokens)) changes.set.max_tokens = body.max_completion_tokens;
  }
  changeMessages(request, reasons, bytes, changes);
  return changes;
}

/** Writes the switch of reasoning as the model has it, and returns whether the model reasons. */
function changeSwitch(body: JsonObject, { facts }: PassThroughRequest, changes: MemberChanges): boolean {
  const isOff = objectOf(body.thinking)?.type === "disabled";
  const isNone = body.reasoning_effort === "none";
  if (!isOff && !isNone) return facts.canReason === true;
  if (facts.thinkingOff === "never") {
    if (isOff) changes.remove.push("thinking");
    changes.droppedFields.push("reasoning");
    const [least] = facts.efforts ?? [];
    if (least !== undefined) changes.set.reasoning_effort = least;
    else if (isNone) changes.remove.push("reasoning_effort");
    return true;
  }
  if (isNone && facts.thinkingOff === "disabled" && facts.efforts?.includes("none") !== true) switchOff(body, changes);
  return false;
}

/** Vendors refuse the switch beside an effort. Undefined removes an effort that other edits set, too. */
function switchOff(body: JsonObject, { set }: MemberChanges): void {
  set.thinking = { type: "disabled" };
  if (!isAbsent(body.reasoning_effort)) set.reasoning_effort = undefined;
}

/** Returns whether the model reasons about the changed request. */
function changeChoice(
  body: JsonObject,
  { facts }: PassThroughRequest,
  reasons: boolean,
  changes: MemberChanges,
): boolean {
  const choice = body.tool_choice;
  if (choice !== "required" && !isForcing(objectOf(choice))) return reasons;
  const plan = forcedCallPlan(facts, reasons);
  if (plan === "auto") {
    changes.set.tool_choice = "auto";
    changes.droppedFields.push("tool_choice");
  } else if (plan === "without_reasoning") {
    switchOff(body, changes);
    changes.droppedFields.push("reasoning");
    return false;
  }
  return reasons;
}

function isForcing(choice: JsonObject | null): boolean {
  return choice !== null && (choice.type !== "allowed_tools" || objectOf(choice.allowed_tools)?.mode === "required");
}

function removePenalties(body: JsonObject, { remove, droppedFields }: MemberChanges): void {
  for (const name of ["presence_penalty", "frequency_penalty"]) {
    if (isAbsent(body[name])) continue;
    remove.push(name);
    if (body[name] !== 0) droppedFields.push(name);
  }
}

function changeMessages(
  request: PassThroughRequest,
  reasons: boolean,
  bytes: Uint8Array,
  changes: MemberChanges,
): void {
  const { body, facts } = request;
  const describesSchema = facts.hasChatSchemas === false && wantsSchema(body);
  const needsReasoning = facts.reasoningHistory === "tool_turns" && reasons &&
    withToolReasoning(listOf(body.messages)) !== body.messages;
  if (!describesSchema && !needsReasoning) return;
  const whole = editedValue(request, bytes);
  const messages = listOf(whole.messages);
  const completed = needsReasoning ? withToolReasoning(messages) : messages;
  if (!describesSchema) {
    changes.set.messages = completed;
    return;
  }
  const schema = objectOf(objectOf(whole.response_format)?.json_schema)?.schema;
  changes.set.messages = [{ role: "system", content: describedSchema(schema) }, ...completed];
  changes.set.response_format = { type: "json_object" };
  changes.droppedFields.push("output_format");
}

/**
 * Sends only the allowed tools to a vendor without `allowed_tools`, as a translated request does. Source: the vendors'
 * API references, `tool_choice`; Chat Completions reference, "Allowed tools".
 *
 * @param bytes The body after edits of its values.
 */
export function allowedToolsEditsOf(request: PassThroughRequest, bytes: Uint8Array): MemberEdits {
  const { body, quirks } = request;
  const choice = objectOf(body.tool_choice);
  if (choice?.type !== "allowed_tools" || !quirks.has("no_allowed_tools")) return NO_MEMBER_EDITS;
  const { mode, tools } = objectOf(choice.allowed_tools) ?? {};
  const names = new Set(objectsOf(tools).map(nameOf));
  const allowed = listOf(editedValue(request, bytes).tools).filter((tool) => isObject(tool) && names.has(nameOf(tool)));
  if (allowed.length === 0) return { set: { tool_choice: "none" }, remove: [], droppedFields: [] };
  return {
    set: { tools: allowed, tool_choice: mode === "required" ? "required" : "auto" },
    remove: [],
    droppedFields: [],
  };
}

function nameOf(tool: Readonly<Record<string, unknown>>): string {
  return textOf(objectOf(tool.function)?.name) || textOf(objectOf(tool.custom)?.name);
}
