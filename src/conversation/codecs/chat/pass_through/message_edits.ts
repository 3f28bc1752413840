import type { JsonEdit } from "../../../../lib/json_edits.ts";
import type { JsonObject } from "../../../../lib/json_object.ts";
import { type BodyEdits, NO_EDITS } from "../../../body_edits.ts";
import type { PassThroughRequest } from "../../../pass_through.ts";
import type { Quirks } from "../../../quirks.ts";
import { isAbsent, isObject, listOf, objectsOf, textOf } from "../../../wire_value.ts";
import { wireCallId } from "../shared/call_id.ts";
import { hasValue } from "../shared/fields.ts";
import { type VendorFields, vendorFieldsFor } from "../shared/vendor_fields.ts";

/** What a vendor takes in messages. */
interface Rules {
  /** Null for a vendor that takes any field. */
  readonly fields: VendorFields | null;
  readonly quirks: Quirks;
}

/** The rules of a vendor that takes certain fields only. */
interface Known extends Rules {
  readonly fields: VendorFields;
}

/**
 * Changes the messages that a vendor refuses: fields that it does not know, ids of calls in another form, roles that
 * have another name, and turns of the assistant without content. Compatible vendors get ids and fields as they are
 * unless their quirks say otherwise.
 */
export function messageEditsOf({ body, wholeBody, quirks }: PassThroughRequest): BodyEdits {
  const fields = vendorFieldsFor(quirks);
  const hasIds = quirks.has("nine_character_call_ids") || !quirks.has("union_schemas");
  // A request without tools has no calls, except in rare histories.
  if (fields === null && !(hasIds && Array.isArray(body.tools))) return NO_EDITS;
  const rules = { fields, quirks };
  if (!objectsOf(body.messages).some((message) => isRefused(message, rules))) return NO_EDITS;
  const edits: JsonEdit[] = [];
  const droppedFields = new Set<string>();
  listOf(wholeBody().messages).forEach((message, index) => {
    if (!isObject(message) || !isRefused(message, rules)) return;
    const path = ["messages", index];
    if (fields === null) edits.push(...idEdits(message, path, quirks));
    else edits.push({ path, value: accepted(message, { fields, quirks }, droppedFields) ?? undefined });
  });
  return { edits, droppedFields: [...droppedFields] };
}

function isRefused(message: JsonObject, { fields, quirks }: Rules): boolean {
  const calls = listOf(message.tool_calls);
  if (calls.some((call) => isObject(call) && isOtherId(call.id, quirks)) || isOtherId(message.tool_call_id, quirks)) {
    return true;
  }
  if (fields === null) return false;
  const { role, content } = message;
  if (typeof role !== "string") return false;
  if (fields.roles[role] !== undefined || isEmptyTurn(message)) return true;
  const known = fields.messages[role];
  return (known !== undefined && hasOthers(message, known)) ||
    calls.some((call) => isObject(call) && hasOthers(call, fields.call)) ||
    listOf(content).some((part) => isObject(part) && isOtherPart(part, fields));
}

function isOtherId(id: unknown, quirks: Quirks): boolean {
  return typeof id === "string" && wireCallId(id, quirks) !== id;
}

function isOtherPart(part: JsonObject, fields: VendorFields): boolean {
  const known = fields.parts[textOf(part.type)];
  return part.type === "refusal" || (known !== undefined && hasOthers(part, known));
}

function isEmptyTurn({ role, content, tool_calls: calls }: JsonObject): boolean {
  return role === "assistant" && listOf(calls).length === 0 &&
    (isAbsent(content) || content === "" || (Array.isArray(content) && content.length === 0));
}

function hasOthers(object: JsonObject, known: ReadonlySet<string>): boolean {
  for (const name in object) if (!known.has(name)) return true;
  return false;
}

function idEdits(message: JsonObject, path: JsonEdit["path"], quirks: Quirks): JsonEdit[] {
  const { tool_calls: calls, tool_call_id: id } = withIds(message, quirks);
  const ids = listOf(calls).map((call, index): JsonEdit => ({
    path: [...path, "tool_calls", index, "id"],
    value: isObject(call) ? call.id : undefined,
  }));
  return id === undefined ? ids : [...ids, { path: [...path, "tool_call_id"], value: id }];
}

/** The message as the vendor takes it; null for a turn without content, which it refuses. */
function accepted(message: JsonObject, rules: Known, droppedFields: Set<string>): JsonObject | null {
  const { fields, quirks } = rules;
  const own = withIds(message, quirks);
  const { role } = own;
  if (typeof role !== "string") return own;
  const named: JsonObject = { ...own, role: fields.roles[role] ?? role };
  const known = fields.messages[fields.roles[role] ?? role];
  if (known === undefined) return named;
  const refusal = role === "assistant" ? textOf(own.refusal) : "";
  const { refusal: _, ...others } = named;
  const kept: Record<string, unknown> = withKnown(others, known, "messages", droppedFields);
  if (Array.isArray(kept.content)) kept.content = kept.content.map((part) => acceptedPart(part, fields, droppedFields));
  if (Array.isArray(kept.tool_calls)) {
    kept.tool_calls = kept.tool_calls.map((call) =>
      isObject(call) ? withKnown(call, fields.call, "messages.tool_calls", droppedFields) : call
    );
  }
  // A refusal without a field for it is text, as in a translated request.
  if (refusal !== "" && !hasValue(kept.content)) kept.content = refusal;
  return isEmptyTurn(kept) ? null : kept;
}

/** The message with ids as the vendor takes them. Equal ids stay equal. */
function withIds(message: JsonObject, quirks: Quirks): JsonObject {
  const { tool_calls: calls, tool_call_id: id } = message;
  return {
    ...message,
    ...(Array.isArray(calls) && { tool_calls: calls.map((call) => isObject(call) ? withId(call, quirks) : call) }),
    ...(typeof id === "string" && { tool_call_id: wireCallId(id, quirks) }),
  };
}

function withId(call: JsonObject, quirks: Quirks): JsonObject {
  return typeof call.id === "string" ? { ...call, id: wireCallId(call.id, quirks) } : call;
}

function acceptedPart(part: unknown, { parts }: VendorFields, droppedFields: Set<string>): unknown {
  if (!isObject(part)) return part;
  if (part.type === "refusal") return { type: "text", text: part.refusal };
  const known = parts[textOf(part.type)];
  return known === undefined ? part : withKnown(part, known, "messages.content", droppedFields);
}

/** An object without the members that a vendor does not take. Those with a value are reported. */
function withKnown(
  object: JsonObject,
  known: ReadonlySet<string>,
  path: string,
  droppedFields: Set<string>,
): Record<string, unknown> {
  const kept: Record<string, unknown> = {};
  for (const [name, value] of Object.entries(object)) {
    if (known.has(name)) kept[name] = value;
    // The index of a call says where it is in the list.
    else if (name !== "index" && !isEmpty(value)) droppedFields.add(`${path}.${name}`);
  }
  return kept;
}

/** Also true for an object all of whose members are empty, such as `{ google: {} }`. */
function isEmpty(value: unknown): boolean {
  return !hasValue(value) || (isObject(value) && Object.values(value).every((inner) => !hasValue(inner)));
}
