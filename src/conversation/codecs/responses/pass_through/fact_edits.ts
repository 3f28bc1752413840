import type { JsonObject } from "../../../../platform/lib/json/json_object.ts";
import { EFFORTS } from "../../../neutral/conversation.ts";
import { nearestEffort } from "../../../parts/request/effort.ts";
import { type MemberEdits, NO_MEMBER_EDITS } from "../../../parts/request/member_edits.ts";
import type { PassThroughRequest } from "../../../contract/pass_through.ts";
import { takesSampling } from "../../../parts/request/sampling.ts";
import { isAbsent, listOf, objectOf } from "../../../neutral/wire_value.ts";

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
