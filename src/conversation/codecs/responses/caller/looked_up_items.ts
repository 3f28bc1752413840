import type { JsonObject } from "../../../../platform/lib/json/json_object.ts";
import { ownValue } from "../../../../platform/lib/collections/own_value.ts";
import type { ContextReference } from "../../../contract/context_reference.ts";
import { idOf } from "../../../contract/references.ts";
import { isAbsent, isObject, listOf, textOf } from "../../../neutral/wire_value.ts";

/** Items that contain their content, so that a vendor does not look them up, with the member that holds it. */
const CONTENT_MEMBERS: Readonly<Record<string, string>> = {
  message: "content",
  function_call: "arguments",
  function_call_output: "output",
  custom_tool_call: "input",
  custom_tool_call_output: "output",
  local_shell_call: "action",
  local_shell_call_output: "output",
  shell_call: "action",
  shell_call_output: "output",
  apply_patch_call: "operation",
  apply_patch_call_output: "status",
  computer_call: "call_id",
  computer_call_output: "output",
  mcp_approval_response: "approval_request_id",
  additional_tools: "tools",
  tool_search_call: "arguments",
  tool_search_output: "tools",
  reasoning: "encrypted_content",
  compaction: "encrypted_content",
  image_generation_call: "result",
  // Tool lists and approval requests of a hosted server are read from the vendor's storage.
  mcp_list_tools: "",
  mcp_approval_request: "",
};

/**
 * True for an item that a vendor reads from its own storage: an `item_reference`, or an item without its content, such
 * as reasoning without `encrypted_content` or a call of a hosted tool.
 */
export function isLookedUp(item: JsonObject): boolean {
  const kind = textOf(item.type ?? (isAbsent(item.role) ? "item_reference" : "message"));
  const member = ownValue(CONTENT_MEMBERS, kind);
  if (member !== undefined) {
    const content = item[member];
    return isAbsent(content) || (content === "" && NEVER_EMPTY.has(kind));
  }
  // Of unknown kinds, calls are a vendor's own, and an item with only an id refers to a stored one.
  return kind.endsWith("_call") || Object.keys(item).every((key) => BARE_KEYS.has(key));
}

/** Kinds whose content is never empty; the input and output of a tool may be. */
const NEVER_EMPTY: ReadonlySet<string> = new Set(["reasoning", "compaction", "image_generation_call"]);
const BARE_KEYS: ReadonlySet<string> = new Set(["id", "type", "status", "role"]);

/** References to items by id, which the vendor looks up. */
export function itemReferences(body: JsonObject): ContextReference[] {
  return listOf(body.input).flatMap((item, index): ContextReference[] => {
    if (!isObject(item) || isAbsent(item.id) || item.id === "" || !isLookedUp(item)) return [];
    return [{ kind: "item", id: idOf(item.id), field: `input[${index}].id` }];
  });
}
