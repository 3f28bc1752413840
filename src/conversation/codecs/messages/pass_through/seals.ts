import type { JsonEdit } from "../../../../lib/json_edits.ts";
import type { JsonObject } from "../../../../lib/json_object.ts";
import { isOwnSeal, isWrapped, NO_EDITS, type SealEdits, WRAPPED_SEAL_MARK } from "../../../foreign_seals.ts";
import type { PassedRequest } from "../../../pass_through.ts";
import { isObject, listOf, objectOf, objectsOf } from "../../../wire_value.ts";
import { callerSeal } from "../shared/seals.ts";

/** Blocks of thinking, by the member that proves them. */
const PROOFS: Readonly<Record<string, string>> = { thinking: "signature", redacted_thinking: "data" };

/**
 * The edits by which a history that holds wrapped proofs becomes one of this provider's: its own proofs are unwrapped,
 * thinking of others is left out. Source: Messages API reference, "Extended thinking".
 */
export function sealEditsOf({ body, latin1, provider }: PassedRequest): SealEdits {
  if (!latin1.includes(WRAPPED_SEAL_MARK)) return NO_EDITS;
  const edits: JsonEdit[] = [];
  const emptied = new Set<number>();
  let opensWithoutThinking = false;
  listOf(body.messages).forEach((message, index) => {
    if (!isObject(message) || message.role !== "assistant" || !Array.isArray(message.content)) return;
    const kept = editBlocks(message.content, ["messages", index, "content"], provider, edits);
    if (kept.length === 0 && message.content.length > 0) emptied.add(index);
    // Only the turn that is being answered must begin with its thinking.
    opensWithoutThinking = kept.length > 0 && kept.length < message.content.length && !isThinking(kept[0]);
  });
  for (const index of emptied) edits.push({ path: ["messages", index], value: undefined });
  const losses = edits.some(({ value }) => value === undefined) ? ["reasoning_signature"] : [];
  if (!opensWithoutThinking || !isAnswered(body) || objectOf(body.thinking)?.type !== "enabled") {
    return { edits, losses };
  }
  edits.push({ path: ["thinking"], value: { type: "disabled" } });
  return { edits: [...edits, ...withoutClearing(body)], losses: [...losses, "reasoning"] };
}

/** Adds the edits of one message; gives the blocks that stay. */
function editBlocks(
  blocks: readonly unknown[],
  path: JsonEdit["path"],
  provider: string,
  edits: JsonEdit[],
): unknown[] {
  return blocks.filter((block, place) => {
    const proof = isObject(block) && typeof block.type === "string" ? PROOFS[block.type] : undefined;
    const value = proof === undefined ? null : (block as JsonObject)[proof];
    if (!isWrapped(value)) return true;
    const seal = callerSeal(value);
    const isOwn = isOwnSeal(seal, "messages", provider);
    if (isOwn) edits.push({ path: [...path, place, proof!], value: seal.value });
    else edits.push({ path: [...path, place], value: undefined });
    return isOwn;
  });
}

function isThinking(block: unknown): boolean {
  return isObject(block) && typeof block.type === "string" && Object.hasOwn(PROOFS, block.type);
}

/** Whether the last turn is the assistant's, or answers its calls: a budget then wants it to begin with thinking. */
function isAnswered(body: JsonObject): boolean {
  const last = objectOf(listOf(body.messages).at(-1));
  return last?.role === "assistant" || objectsOf(last?.content).some(({ type }) => type === "tool_result");
}

/** Without thinking, nothing may be set about clearing it. */
function withoutClearing(body: JsonObject): JsonEdit[] {
  const management = objectOf(body.context_management);
  return listOf(management?.edits).flatMap((edit, index) =>
    String(objectOf(edit)?.type).startsWith("clear_thinking")
      ? [{ path: ["context_management", "edits", index], value: undefined }]
      : []
  );
}
