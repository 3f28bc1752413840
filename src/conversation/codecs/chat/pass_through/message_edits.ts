import type { JsonEdit } from "../../../../lib/json_edits.ts";
import type { JsonObject } from "../../../../lib/json_object.ts";
import { type BodyEdits, NO_EDITS } from "../../../body_edits.ts";
import type { PassThroughRequest } from "../../../pass_through.ts";
import type { Quirks } from "../../../quirks.ts";
import { isAbsent, isObject, listOf, objectsOf, textOf } from "../../../wire_value.ts";
import { wireCallId } from "../shared/names.ts";
import { hasValue } from "../shared/fields.ts";
import { type VendorFields, vendorFieldsFor } from "../shared/vendor_fields.ts";
import { hasOwnSignature } from "./signatures.ts";

/** What a vendor takes in messages. */
interface Rules {
  /** Null for a vendor without a list of fields. */
  readonly fields: VendorFields | null;
  readonly quirks: Quirks;
  /** Whether ids of calls have a limit. */
  readonly hasIds: boolean;
  /** Whether reasoning of earlier turns is refused: OpenAI takes none in any field. */
  readonly refusesReasoning: boolean;
  /** Its own reasoning stays, if it returned any. */
  readonly provider: string;
}

/** The fields in which other vendors return reasoning, and the neutral names of what they have. */
const REASONING: Readonly<Record<string, string>> = {
  reasoning_content: "reasoning_text",
  reasoning: "reasoning_text",
  reasoning_details: "reasoning_signature",
  extra_content: "reasoning_signature",
};
const REASONING_NAMES = Object.keys(REASONING);

/** The rules of a vendor that takes certain fields only. */
interface Known extends Pick<Rules, "quirks"> {
  readonly fields: VendorFields;
}

/**
 * Changes the messages that a vendor refuses: fields that it does not know, ids of calls in another form, roles that
 * have another name, and turns of the assistant without content. Compatible vendors get ids and fields as they are
 * unless their quirks say otherwise.
 */
export function messageEditsOf({ body, wholeBody, quirks, provider }: PassThroughRequest): BodyEdits {
  const fields = vendorFieldsFor(quirks);
  const isOpenAi = !quirks.has("union_schemas");
  const hasIds = quirks.has("nine_character_call_ids") || isOpenAi;
  const refusesReasoning = isOpenAi && !quirks.has("reasoning_in_history");
  if (fields === null && !hasIds && !refusesReasoning) return NO_EDITS;
  const rules = { fields, quirks, hasIds, refusesReasoning, provider };
  if (!objectsOf(body.messages).some((message) => isRefused(message, rules))) return NO_EDITS;
  const edits: JsonEdit[] = [];
  const droppedFields = new Set<string>();
  listOf(wholeBody().messages).forEach((message, index) => {
    if (!isObject(message) || !isRefused(message, rules)) return;
    const path = ["messages", index];
    if (fields !== null) {
      edits.push({ path, value: accepted(message, { fields, quirks }, droppedFields) ?? undefined });
    } else edits.push(...idEdits(message, path, rules), ...reasoningEdits(message, path, rules, droppedFields));
  });
  return { edits, droppedFields: [...droppedFields] };
}

function isRefused(message: JsonObject, rules: Rules): boolean {
  const { fields, quirks, hasIds } = rules;
  const { tool_calls: toolCalls, role } = message;
  if (hasRefusedReasoning(message, rules)) return true;
  const calls = listOf(toolCalls);
  if (hasIds && calls.some((call) => isObject(call) && isOtherId(call.id, quirks))) return true;
  if (hasIds && isOtherId(message.tool_call_id, quirks)) return true;
  if (fields === null) return false;
  const { content } = message;
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

function hasRefusedReasoning(message: JsonObject, { refusesReasoning, provider }: Rules): boolean {
  if (!refusesReasoning || message.role !== "assistant") return false;
  const { tool_calls: calls } = message;
  const hasReasoning = REASONING_NAMES.some((name) => message[name] !== undefined) ||
    (Array.isArray(calls) && calls.some(hasExtraContent));
  return hasReasoning && !hasOwnSignature(message, provider);
}

function hasExtraContent(call: unknown): boolean {
  return isObject(call) && call.extra_content !== undefined;
}

function reasoningEdits(
  message: JsonObject,
  path: JsonEdit["path"],
  rules: Rules,
  droppedFields: Set<string>,
): JsonEdit[] {
  if (!hasRefusedReasoning(message, rules)) return [];
  const names = REASONING_NAMES.filter((name) => message[name] !== undefined);
  for (const name of names) if (!isEmpty(message[name])) droppedFields.add(REASONING[name] ?? name);
  const inCalls = listOf(message.tool_calls).flatMap((call, index): JsonEdit[] => {
    if (!hasExtraContent(call)) return [];
    if (isObject(call) && !isEmpty(call.extra_content)) droppedFields.add("reasoning_signature");
    return [{ path: [...path, "tool_calls", index, "extra_content"], value: undefined }];
  });
  return [...names.map((name) => ({ path: [...path, name], value: undefined })), ...inCalls];
}

function idEdits(message: JsonObject, path: JsonEdit["path"], { hasIds, quirks }: Rules): JsonEdit[] {
  if (!hasIds) return [];
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
