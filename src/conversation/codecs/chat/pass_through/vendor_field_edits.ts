import type { JsonObject } from "../../../../lib/json_object.ts";
import { EFFORTS } from "../../../conversation.ts";
import { nearestEffort } from "../../../effort.ts";
import { type MemberEdits, NO_EDITS } from "../../../member_edits.ts";
import type { PassThroughRequest } from "../../../pass_through.ts";
import { isAbsent } from "../../../wire_value.ts";
import { hasValue } from "../shared/fields.ts";
import { type VendorFields, vendorFieldsFor } from "../shared/vendor_fields.ts";

/** What is left out without a report: the value that applies without the field. */
const DEFAULTS: Readonly<Record<string, unknown>> = {
  n: 1,
  top_logprobs: 0,
  parallel_tool_calls: true,
  service_tier: "auto",
  verbosity: "medium",
};

/**
 * Leaves out the fields of a request that a vendor refuses because it does not know them, or gives them the vendor's
 * names.
 *
 * @param replaced The members that other edits set.
 */
export function vendorFieldEditsOf({ body, quirks }: PassThroughRequest, replaced: JsonObject): MemberEdits {
  const fields = vendorFieldsFor(quirks);
  if (fields === null) return NO_EDITS;
  const set: Record<string, unknown> = {};
  const remove: string[] = [];
  const droppedFields: string[] = [];
  rename("max_completion_tokens", "max_tokens", body, set);
  if (quirks.has("random_seed_field")) rename("seed", "random_seed", body, set);
  for (const name of Object.keys(body)) {
    if (fields.request.has(name) || isOwn(name)) continue;
    remove.push(name);
    const isRenamed = RENAMED[name] !== undefined && set[RENAMED[name]] !== undefined;
    if (!isRenamed && hasValue(body[name]) && body[name] !== DEFAULTS[name]) droppedFields.push(name);
  }
  changeEffort({ ...body, ...replaced }, fields, set, droppedFields);
  return { set, remove, droppedFields };
}

const RENAMED: Readonly<Record<string, string>> = { max_completion_tokens: "max_tokens", seed: "random_seed" };

function rename(from: string, to: string, body: JsonObject, set: Record<string, unknown>): void {
  if (!isAbsent(body[from]) && isAbsent(body[to])) set[to] = body[from];
}

/** Members that other edits remove, and report where that is due. */
function isOwn(name: string): boolean {
  return name === "extra_body" || name === "stream_options" || name === "reasoning" || name === "usage";
}

function changeEffort(
  { reasoning_effort: sent }: JsonObject,
  { efforts }: VendorFields,
  set: Record<string, unknown>,
  droppedFields: string[],
): void {
  const requested = EFFORTS.find((effort) => effort === sent);
  if (requested === undefined || efforts.includes(requested)) return;
  const [first, ...others] = efforts;
  if (first === undefined) return;
  set.reasoning_effort = nearestEffort(requested, [first, ...others]);
  droppedFields.push("reasoning_effort");
}
