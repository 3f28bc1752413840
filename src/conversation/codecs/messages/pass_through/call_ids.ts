import type { JsonEdit } from "../../../../platform/lib/json/json_edits.ts";
import { isObject } from "../../../neutral/wire_value.ts";
import { type BodyEdits, NO_EDITS } from "../../../parts/request/body_edits.ts";
import type { PassThroughRequest } from "../../../contract/pass_through.ts";
import { wireCallId } from "../upstream/write_tools.ts";

/** An id that the vendor accepts. */
const ACCEPTED = /^[\w-]+$/;

/**
 * Edits ids of calls that another vendor made, such as `functions.read:0`, when a history goes on with another model.
 * Compatible vendors get ids as they are: some require their own. Source: Messages API reference, `tool_use.id`; the
 * vendor's error message "String should match pattern '^[a-zA-Z0-9_-]+$'".
 */
export function callIdEditsOf({ body, quirks }: PassThroughRequest): BodyEdits {
  const { messages } = body;
  if (quirks.has("any_property_names") || !Array.isArray(messages)) return NO_EDITS;
  const edits: JsonEdit[] = [];
  // Almost all ids are accepted, and a conversation has many: the search makes no lists and no functions.
  for (let index = 0; index < messages.length; index++) {
    const message: unknown = messages[index];
    if (!isObject(message) || !Array.isArray(message.content)) continue;
    const blocks: readonly unknown[] = message.content;
    for (let position = 0; position < blocks.length; position++) {
      const block = blocks[position];
      const name = idMemberOf(block);
      if (name === null || !isObject(block)) continue;
      const id = block[name];
      if (typeof id !== "string" || ACCEPTED.test(id)) continue;
      edits.push({ path: ["messages", index, "content", position, name], value: wireCallId(id) });
    }
  }
  return edits.length === 0 ? NO_EDITS : { edits, droppedFields: [] };
}

/** The member in which a block has the id of a call; null for other blocks. */
function idMemberOf(block: unknown): "id" | "tool_use_id" | null {
  if (!isObject(block)) return null;
  if (block.type === "tool_use") return "id";
  return block.type === "tool_result" ? "tool_use_id" : null;
}
