import type { JsonObject } from "../../../../platform/lib/json/json_object.ts";
import type { Effort } from "../../../neutral/conversation.ts";
import { nearestEffort } from "../../../parts/request/effort.ts";
import { type MemberEdits, NO_MEMBER_EDITS } from "../../../parts/request/member_edits.ts";
import type { PassThroughRequest } from "../../../contract/pass_through.ts";
import { takesSampling } from "../../../parts/request/sampling.ts";
import { isAbsent } from "../../../neutral/wire_value.ts";
import { isRelayed, refusesStop } from "../shared/model_rules.ts";
import {
  effectiveEffort,
  effortsInChat,
  hasFunctions,
  onlyInChat,
  requestedEffort,
  takesTools,
  toolsRefusedInChat,
} from "../shared/refused_in_chat.ts";
import { ownValue } from "../../../../platform/lib/collections/own_value.ts";

/** What passes without a report: the value that applies when the field is left out. */
const SAMPLING_DEFAULTS: Readonly<Record<string, unknown>> = {
  temperature: 1,
  top_p: 1,
  presence_penalty: 0,
  frequency_penalty: 0,
  logprobs: false,
  top_logprobs: 0,
};

/** Sampling settings that a model refuses while it reasons. Source: OpenAI guide Using GPT-6. */
const SAMPLING = [...Object.keys(SAMPLING_DEFAULTS), "logit_bias"];

/**
 * Changes the fields that a model refuses at chat completions to the nearest that it takes, or leaves them out. Relays
 * that take OpenRouter's objects adapt requests themselves.
 *
 * @param replaced The members that other edits set, such as an effort in place of OpenRouter's object.
 * @throws {GatewayError} `invalid_request` if function tools are refused and reasoning cannot be switched off.
 */
export function factEditsOf(request: PassThroughRequest, replaced: JsonObject): MemberEdits {
  const { body, facts, model } = request;
  if (isRelayed(request) || facts.canReason === null) return NO_MEMBER_EDITS;
  // An undefined value removes the effort, too.
  const requested = requestedEffort(
    "reasoning_effort" in replaced || "reasoning" in replaced ? { ...body, ...replaced } : body,
  );
  if (!facts.canReason) return withoutEffort(body, requested);
  const effort = effortFor(body, { facts, model }, requested);
  const droppedFields: string[] = [];
  const set: JsonObject = {};
  const remove: string[] = [];
  if (effort !== requested && effort !== null) {
    set.reasoning_effort = effort;
    if (requested !== null) droppedFields.push("reasoning");
  }
  if (!takesSampling(facts, effort)) leaveOut(SAMPLING, body, remove, droppedFields);
  if (refusesStop(facts, effort)) leaveOut(["stop"], body, remove, droppedFields);
  if (facts.hasChatMaxTokens === false && !isAbsent(body.max_tokens)) {
    remove.push("max_tokens");
    if (isAbsent(body.max_completion_tokens)) set.max_completion_tokens = body.max_tokens;
  }
  return { set, remove, droppedFields };
}

/** A model that does not reason refuses every effort. To ask for none changes nothing. */
function withoutEffort({ reasoning_effort: sent }: JsonObject, requested: Effort | null): MemberEdits {
  if (isAbsent(sent) && requested === null) return NO_MEMBER_EDITS;
  return { set: {}, remove: ["reasoning_effort"], droppedFields: requested === "none" ? [] : ["reasoning"] };
}

/** The effort to send: as requested, the nearest that the endpoint takes, or none beside refused function tools. */
function effortFor(
  body: JsonObject,
  { facts, model }: Pick<PassThroughRequest, "facts" | "model">,
  requested: Effort | null,
): Effort | null {
  if (hasFunctions(body) && !takesTools(facts, effectiveEffort(requested, facts))) {
    if (facts.efforts?.includes("none") === false) throw toolsRefusedInChat(model, onlyInChat(body));
    return "none";
  }
  const known = effortsInChat(facts);
  return requested === null || known === null || known.length === 0 ? requested : nearestEffort(requested, known);
}

function leaveOut(names: readonly string[], body: JsonObject, remove: string[], droppedFields: string[]): void {
  for (const name of names) {
    if (isAbsent(body[name])) continue;
    remove.push(name);
    if (body[name] !== ownValue(SAMPLING_DEFAULTS, name)) droppedFields.push(name);
  }
}
