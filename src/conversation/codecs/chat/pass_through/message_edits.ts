import { appendAll } from "../../../../platform/lib/collections/append_all.ts";
import type { JsonEdit } from "../../../../platform/lib/json/json_edits.ts";
import type { JsonObject } from "../../../../platform/lib/json/json_object.ts";
import { type BodyEdits, NO_EDITS } from "../../../parts/request/body_edits.ts";
import type { PassThroughRequest } from "../../../contract/pass_through.ts";
import type { Quirks } from "../../../contract/quirks.ts";
import { isAbsent, isObject, listOf, textOf } from "../../../neutral/wire_value.ts";
import { wireCallId } from "../shared/names.ts";
import { hasValue } from "../shared/fields.ts";
import { type VendorFields, vendorFieldsFor } from "../shared/vendor_fields.ts";
import { hasOwnSignature } from "./signatures.ts";
import { ownValue } from "../../../../platform/lib/collections/own_value.ts";

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
  if (!hasRefused(body.messages, rules)) return NO_EDITS;
  const edits: JsonEdit[] = [];
  const droppedFields = new Set<string>();
  listOf(wholeBody().messages).forEach((message, index) => {
    if (!isObject(message) || !isRefused(message, rules)) return;
    const path = ["messages", index];
    if (fields !== null) {
      edits.push({ path, value: accepted(message, { fields, quirks }, droppedFields) ?? undefined });
    } else {
      appendAll(edits, idEdits(message, path, rules));
      appendAll(edits, reasoningEdits(message, path, rules, droppedFields));
    }
  });
  return { edits, droppedFields: [...droppedFields] };
}

function hasRefused(messages: unknown, rules: Rules): boolean {
  if (!Array.isArray(messages)) return false;
  for (const message of messages) if (isObject(message) && isRefused(message, rules)) return true;
  return false;
}

/** Almost all messages are accepted, and a conversation has many: the search makes no lists and no functions. */
function isRefused(message: JsonObject, rules: Rules): boolean {
  const { fields, quirks, hasIds } = rules;
  const { role, tool_calls: calls } = message;
  if (hasRefusedReasoning(message, rules)) return true;
  if (hasIds && (isOtherId(message.tool_call_id, quirks) || hasOtherIds(calls, quirks))) return true;
  return fields !== null && typeof role === "string" && hasOtherFields(message, role, fields);
}

function hasOtherIds(calls: unknown, quirks: Quirks): boolean {
  if (!Array.isArray(calls)) return false;
  for (const call of calls) if (isObject(call) && isOtherId(call.id, quirks)) return true;
  return false;
}

function isOtherId(id: unknown, quirks: Quirks): boolean {
  return typeof id === "string" && wireCallId(id, quirks) !== id;
}

function hasOtherFields(message: JsonObject, role: string, fields: VendorFields): boolean {
  if (fields.roles[role] !== undefined) return true;
  const known = fields.messages[role];
  if (known !== undefined && hasOthers(message, known)) return true;
  const { content, tool_calls: calls } = message;
  if (role === "assistant" && isEmptyTurn(message)) return true;
  if (Array.isArray(calls)) {
    for (const call of calls) if (isObject(call) && hasOthers(call, fields.call)) return true;
  }
  if (!Array.isArray(content)) return false;
  for (const part of content) if (isObject(part) && isOtherPart(part, fields)) return true;
  return false;
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
  return hasReasoning(message) && !hasOwnSignature(message, provider);
}

function hasReasoning(message: JsonObject): boolean {
  const { reasoning_content, reasoning, reasoning_details, extra_content, tool_calls: calls } = message;
  // The members of `REASONING`: V8 finds a member that is named in the code in a tenth of the time.
  if (reasoning_content !== undefined || reasoning !== undefined) return true;
  if (reasoning_details !== undefined || extra_content !== undefined) return true;
  if (!Array.isArray(calls)) return false;
  for (const call of calls) if (hasExtraContent(call)) return true;
  return false;
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
  for (const name of names) if (!isEmpty(message[name])) droppedFields.add(ownValue(REASONING, name) ?? name);
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
  const named: JsonObject = { ...own, ...reasoningIn(own, fields), role: fields.roles[role] ?? role };
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

/** The reasoning of a message under the name that the vendor has for it; nothing to change for others. */
function reasoningIn({ role, reasoning, reasoning_content: text }: JsonObject, { messages }: VendorFields): JsonObject {
  if (role !== "assistant" || messages.assistant?.has("reasoning") !== true || typeof text !== "string") return {};
  return { reasoning: isAbsent(reasoning) ? text : reasoning, reasoning_content: undefined };
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
