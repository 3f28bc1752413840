import type { JsonEdit } from "../../../../platform/lib/json/json_edits.ts";
import { isObject } from "../../../neutral/wire_value.ts";
import { type BodyEdits, NO_EDITS } from "../../../parts/request/body_edits.ts";
import type { PassThroughRequest } from "../../../contract/pass_through.ts";
import { wireCallId } from "../shared/tools.ts";

/**
 * Edits ids of calls that are too long, which other vendors make of the tool's name. Compatible vendors get them as
 * they are. Source: Responses API reference, `call_id`; the vendor's error message "string too long. Expected a string
 * with maximum length 64".
 */
export function callIdEditsOf({ body, quirks }: PassThroughRequest): BodyEdits {
  const { input } = body;
  if (quirks.has("union_schemas") || !Array.isArray(input)) return NO_EDITS;
  const edits: JsonEdit[] = [];
  for (let index = 0; index < input.length; index++) {
    const item: unknown = input[index];
    if (!isObject(item) || typeof item.call_id !== "string" || item.call_id === "") continue;
    const sent = wireCallId(item.call_id);
    if (sent !== item.call_id) edits.push({ path: ["input", index, "call_id"], value: sent });
  }
  return edits.length === 0 ? NO_EDITS : { edits, droppedFields: [] };
}
