import type { JsonEdit } from "../../../../platform/lib/json/json_edits.ts";
import type { JsonObject } from "../../../../platform/lib/json/json_object.ts";
import { hasQuoted } from "../../../../platform/lib/text/word_search.ts";
import { EFFORTS } from "../../../neutral/conversation.ts";
import { type BodyEdits, editedValue, NO_EDITS } from "../../../parts/request/body_edits.ts";
import { nearestEffort } from "../../../parts/request/effort.ts";
import { type MemberEdits, NO_MEMBER_EDITS } from "../../../parts/request/member_edits.ts";
import type { PassThroughRequest } from "../../../contract/pass_through.ts";
import { takesSampling } from "../../../parts/request/sampling.ts";
import { isAbsent, isObject, listOf, objectOf, objectsOf, textOf } from "../../../neutral/wire_value.ts";

/** Sampling settings of this format, with the values that apply when they are left out. */
const SAMPLING: Readonly<Record<string, unknown>> = { temperature: 1, top_p: 1, top_logprobs: 0 };

/**
 * Changes the effort and the sampling settings that a model refuses to the nearest that it takes, or leaves them out.
 * Relays of other vendors' models adapt requests themselves.
 */
export function factEditsOf({ body, facts, quirks }: PassThroughRequest): MemberEdits {
  if (quirks.has("reasoning_object") || facts.canReason === null) return NO_MEMBER_EDITS;
  if (!facts.canReason) return withoutReasoning(body);
  const reasoning = objectOf(body.reasoning);
  const requested = EFFORTS.find((effort) => effort === reasoning?.effort) ?? null;
  const { efforts } = facts;
  const effort = requested === null || efforts === null || efforts.length === 0
    ? requested
    : nearestEffort(requested, efforts);
  const remove: string[] = [];
  const droppedFields: string[] = [];
  if (effort !== requested) droppedFields.push("reasoning_effort");
  if (!takesSampling(facts, effort)) {
    for (const [name, defaultValue] of Object.entries(SAMPLING)) {
      if (isAbsent(body[name])) continue;
      remove.push(name);
      if (body[name] !== defaultValue) droppedFields.push(name);
    }
  }
  return { set: effort === requested ? {} : { reasoning: { ...reasoning, effort } }, remove, droppedFields };
}

const ENCRYPTED_REASONING = "reasoning.encrypted_content";

/** A model that does not reason refuses every setting of reasoning. To ask for none changes nothing. */
function withoutReasoning(body: JsonObject): MemberEdits {
  const reasoning = objectOf(body.reasoning);
  const asksForNone = reasoning === null || Object.keys(reasoning).every((name) => name === "effort") &&
      (isAbsent(reasoning.effort) || reasoning.effort === "none");
  const include = listOf(body.include);
  return {
    set: include.includes(ENCRYPTED_REASONING)
      ? { include: include.filter((name) => name !== ENCRYPTED_REASONING) }
      : {},
    remove: reasoning === null ? [] : ["reasoning"],
    droppedFields: asksForNone ? [] : ["reasoning"],
  };
}

const SEARCH = "tool_search";
const DEFERRED = "defer_loading";

/**
 * Leaves out the search for tools where a model refuses it, so that it gets all tools immediately. Source: OpenAI,
 * guide Tool search; model page of GPT-5.4 nano.
 */
export function toolSearchEditsOf({ body, facts, outlineText }: PassThroughRequest): BodyEdits {
  if (facts.hasToolSearch !== false) return NO_EDITS;
  if (!hasQuoted(outlineText, `${SEARCH}"`) && !hasQuoted(outlineText, DEFERRED)) return NO_EDITS;
  const edits: JsonEdit[] = [];
  const droppedFields = new Set<string>();
  for (const { tool, path, name } of toolsIn(body)) {
    if (tool.type === SEARCH) {
      edits.push({ path, value: undefined });
      droppedFields.add(`${name}.${SEARCH}`);
    } else if (tool[DEFERRED] !== undefined) {
      edits.push({ path: [...path, DEFERRED], value: undefined });
      if (tool[DEFERRED] === true) droppedFields.add(`${name}.${DEFERRED}`);
    }
  }
  return edits.length === 0 ? NO_EDITS : { edits, droppedFields: [...droppedFields] };
}

/** A tool, its path, and the name of its place among dropped fields. */
interface PlacedTool {
  readonly tool: JsonObject;
  readonly path: JsonEdit["path"];
  readonly name: string;
}

/** The tools of a request and of its items, and those in namespaces. */
function* toolsIn({ tools, input }: JsonObject): Generator<PlacedTool> {
  yield* placed(tools, ["tools"], "tools");
  for (const [index, item] of listOf(input).entries()) {
    if (!isObject(item) || item.type !== ADDED) continue;
    yield* placed(item.tools, ["input", index, "tools"], `input.${ADDED}.tools`);
  }
}

function* placed(tools: unknown, path: JsonEdit["path"], name: string): Generator<PlacedTool> {
  for (const [index, tool] of listOf(tools).entries()) {
    if (!isObject(tool)) continue;
    yield { tool, path: [...path, index], name };
    if (tool.type === "namespace") yield* placed(tool.tools, [...path, index, "tools"], `${name}.tools`);
  }
}

const ADDED = "additional_tools";

/**
 * Moves the tools that `tool_choice` names from items of the input to `tools`, where models before GPT-5.6 look for
 * them: "Tool choice 'f' not found in 'tools' parameter." They refuse a tool in both places. A request that continues a
 * stored one is sent as it is, because its items are part of what is stored.
 *
 * @param bytes The body after edits of its values.
 */
export function addedChoiceEditsOf(request: PassThroughRequest, bytes: Uint8Array): MemberEdits {
  const { body, facts, outlineText } = request;
  if (facts.hasAddedToolChoice !== false || !hasQuoted(outlineText, `${ADDED}"`)) return NO_MEMBER_EDITS;
  if (!isAbsent(body.previous_response_id) || !isAbsent(body.conversation)) return NO_MEMBER_EDITS;
  const chosen = namesIn(body.tool_choice);
  for (const { name } of objectsOf(body.tools)) chosen.delete(textOf(name));
  if (chosen.size === 0) return NO_MEMBER_EDITS;
  const whole = editedValue(request, bytes);
  const moved: unknown[] = [];
  const input = listOf(whole.input).flatMap((item): unknown[] => {
    if (!isObject(item) || item.type !== ADDED) return [item];
    const kept = listOf(item.tools).filter((tool) => {
      const isChosen = isObject(tool) && chosen.delete(textOf(tool.name));
      if (isChosen) moved.push(tool);
      return !isChosen;
    });
    return kept.length === 0 ? [] : [{ ...item, tools: kept }];
  });
  if (moved.length === 0) return NO_MEMBER_EDITS;
  return { set: { input, tools: [...listOf(whole.tools), ...moved] }, remove: [], droppedFields: [] };
}

/** The names of the tools that a choice names. */
function namesIn(choice: unknown): Set<string> {
  const { type, name, tools } = objectOf(choice) ?? {};
  if (type === "allowed_tools") return new Set(objectsOf(tools).map((tool) => textOf(tool.name)));
  return new Set(type === "function" || type === "custom" ? [textOf(name)] : []);
}
