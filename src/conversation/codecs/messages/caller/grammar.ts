import { hostedNamesByType } from "../../../contract/hosted_tools.ts";
import type { ContextReference } from "../../../contract/context_reference.ts";
import type { RequestGrammar } from "../../../contract/request_grammar.ts";
import type { JsonObject } from "../../../../platform/lib/json/json_object.ts";
import { isVendorKind } from "../../../contract/vendor_tools.ts";
import { isAbsent, isObject } from "../../../neutral/wire_value.ts";

/** Tools that the caller runs, or that are billed by tokens only. */
const CALLER_RUN = /^(custom|(bash|text_editor|computer|memory|tool_search_tool_\w+|web_fetch|advisor)_\d+)$/;

/** The meaning of members of a messages request. */
export const grammar: RequestGrammar = {
  hasExactNames: false,
  hasStoredPrompts: false,
  cacheFields: [],
  inputField: "messages",
  isCallerData: ({ type }, name) => name === "input" && typeof type === "string" && type.endsWith("tool_use"),
  ownReferences: threadReferences,
  isThreaded: ({ thread }) => isObject(thread),
  hostedToolNames: (tool) => hostedNamesByType(tool, "custom", CALLER_RUN),
  isVendorTool: isVendorKind,
  isImage: ({ type }) => type === "image",
};

/** The conversation that a vendor stores under the id of its last reply. Source: Messages API reference, "thread". */
function threadReferences({ thread }: JsonObject): ContextReference[] {
  if (!isObject(thread) || isAbsent(thread.previous_message_id)) return [];
  const { previous_message_id: id } = thread;
  const text = typeof id === "string" ? id : JSON.stringify(id);
  return [{ kind: "thread", id: text, field: "thread.previous_message_id" }];
}
