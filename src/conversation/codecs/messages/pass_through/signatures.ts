import { appendAll } from "../../../../platform/lib/collections/append_all.ts";
import type { JsonEdit } from "../../../../platform/lib/json/json_edits.ts";
import type { JsonObject } from "../../../../platform/lib/json/json_object.ts";
import {
  type BodyEdits,
  isOwnSignature,
  isWrapped,
  mayHaveWrapped,
  NO_EDITS,
} from "../../../parts/request/body_edits.ts";
import type { ModelFacts } from "../../../facts/model_facts.ts";
import type { PassThroughRequest } from "../../../contract/pass_through.ts";
import { isObject, listOf, objectOf, objectsOf } from "../../../neutral/wire_value.ts";
import { readCallerSignature } from "../shared/signatures.ts";
import { searchEditsOf } from "./search_edits.ts";
import { ownValue } from "../../../../platform/lib/collections/own_value.ts";

/** Kinds of thinking blocks, with the member that holds the signature. */
const SIGNATURE_FIELDS: Readonly<Record<string, string>> = { thinking: "signature", redacted_thinking: "data" };

/**
 * Edits a history with wrapped signatures for this provider. The provider's own signatures are unwrapped; thinking,
 * searches and citations of others are removed. Source: Messages API reference, "Extended thinking".
 */
export function signatureEditsOf(
  { body: outline, wholeBody, outlineText, provider, facts, dropsReasoning }: PassThroughRequest,
): BodyEdits {
  if (!dropsReasoning && !mayHaveWrapped(outlineText)) return bareLoopEdits(outline, facts);
  const body = wholeBody();
  const edits: JsonEdit[] = [];
  const searchLosses = new Set<string>();
  const searchEdits: JsonEdit[] = [];
  const emptied = new Set<number>();
  const start = loopStart(body);
  let startsWithoutThinking = false;
  listOf(body.messages).forEach((message, index) => {
    if (!isObject(message) || message.role !== "assistant" || !Array.isArray(message.content)) return;
    const path = ["messages", index, "content"];
    const search = searchEditsOf(message.content, path, provider);
    appendAll(searchEdits, search.edits);
    for (const loss of search.droppedFields) searchLosses.add(loss);
    const kept = editBlocks(message.content, path, dropsReasoning ? null : provider, edits, search.removed);
    if (kept.length === 0 && message.content.length > 0) emptied.add(index);
    // Only the turn that is being continued must start with its thinking. Its later messages may have none.
    startsWithoutThinking ||= index === start && kept.length > 0 && !isThinking(kept[0]);
  });
  const isLost = edits.some(({ value }) => value === undefined);
  for (const index of emptied) edits.push({ path: ["messages", index], value: undefined });
  appendAll(edits, searchEdits);
  const droppedFields = [...isLost ? ["reasoning_signature"] : [], ...searchLosses];
  if (!startsWithoutThinking || !thinksWithBudget(body, facts)) return { edits, droppedFields };
  return { edits: [...edits, ...withoutThinking(body)], droppedFields: [...droppedFields, "reasoning"] };
}

/** Switches a budget off in a tool loop that another vendor, or a request without thinking, began. */
function bareLoopEdits(body: JsonObject, facts: ModelFacts): BodyEdits {
  if (!thinksWithBudget(body, facts)) return NO_EDITS;
  const messages = listOf(body.messages);
  const first = objectOf(messages[loopStart(body)]);
  const isBare = objectOf(messages.at(-1))?.role === "user" && Array.isArray(first?.content) &&
    first.content.length > 0 && !isThinking(first.content[0]);
  return isBare ? { edits: withoutThinking(body), droppedFields: ["reasoning"] } : NO_EDITS;
}

function withoutThinking(body: JsonObject): JsonEdit[] {
  return [{ path: ["thinking"], value: { type: "disabled" } }, ...withoutClearing(body)];
}

/** Whether the request thinks with a budget, or with one that adaptive thinking becomes. */
function thinksWithBudget({ thinking }: JsonObject, { reasoningControl }: ModelFacts): boolean {
  const type = objectOf(thinking)?.type;
  return type === "enabled" || (type === "adaptive" && reasoningControl === "budget");
}

/**
 * Adds the edits of one message, and returns the blocks that stay.
 *
 * @param provider Whose thinking stays; null for none.
 * @param removed Positions of blocks that are removed for other reasons.
 */
function editBlocks(
  blocks: readonly unknown[],
  path: JsonEdit["path"],
  provider: string | null,
  edits: JsonEdit[],
  removed: ReadonlySet<number>,
): unknown[] {
  return blocks.filter((block, position) => {
    if (removed.has(position)) return false;
    const field = isObject(block) && typeof block.type === "string"
      ? ownValue(SIGNATURE_FIELDS, block.type)
      : undefined;
    if (field === undefined) return true;
    const value = (block as JsonObject)[field];
    if (provider !== null && !isWrapped(value)) return true;
    const signature = readCallerSignature(String(value));
    const isOwn = provider !== null && isOwnSignature(signature, "messages", provider);
    if (isOwn) edits.push({ path: [...path, position, field], value: signature.value });
    else edits.push({ path: [...path, position], value: undefined });
    return isOwn;
  });
}

function isThinking(block: unknown): boolean {
  return isObject(block) && typeof block.type === "string" && Object.hasOwn(SIGNATURE_FIELDS, block.type);
}

/**
 * The index of the message that begins the turn which the request continues: one of the assistant, with results of its
 * calls between its messages. With a budget, it must start with thinking. -1 if the last message asks something new.
 */
function loopStart(body: JsonObject): number {
  const messages = listOf(body.messages);
  let start = -1;
  for (let index = messages.length - 1; index >= 0; index--) {
    const message = objectOf(messages[index]);
    if (message?.role === "assistant") start = index;
    else if (!objectsOf(message?.content).some(({ type }) => type === "tool_result")) break;
  }
  return start;
}

/** Removes settings for the clearing of thinking, which are not allowed without thinking. */
function withoutClearing(body: JsonObject): JsonEdit[] {
  const management = objectOf(body.context_management);
  return listOf(management?.edits).flatMap((edit, index) =>
    String(objectOf(edit)?.type).startsWith("clear_thinking")
      ? [{ path: ["context_management", "edits", index], value: undefined }]
      : []
  );
}
