import type { PassThroughRequest } from "../../../contract/pass_through.ts";
import { isObject, listOf, objectOf, objectsOf, textOf } from "../../../neutral/wire_value.ts";
import { editedValue } from "../../../parts/request/body_edits.ts";
import { type MemberEdits, NO_MEMBER_EDITS } from "../../../parts/request/member_edits.ts";

/**
 * Sends only the allowed tools to a vendor without `allowed_tools`, as a translated request does. Source: the vendors'
 * API references, `tool_choice`; Chat Completions reference, "Allowed tools".
 *
 * @param bytes The body after edits of its values.
 */
export function allowedToolsEditsOf(request: PassThroughRequest, bytes: Uint8Array): MemberEdits {
  const { body, quirks } = request;
  const choice = objectOf(body.tool_choice);
  if (choice?.type !== "allowed_tools" || !quirks.has("no_allowed_tools")) return NO_MEMBER_EDITS;
  const { mode, tools } = objectOf(choice.allowed_tools) ?? {};
  const names = new Set(objectsOf(tools).map(nameOf));
  const allowed = listOf(editedValue(request, bytes).tools).filter((tool) => isObject(tool) && names.has(nameOf(tool)));
  if (allowed.length === 0) return { set: { tool_choice: "none" }, remove: [], droppedFields: [] };
  return {
    set: { tools: allowed, tool_choice: mode === "required" ? "required" : "auto" },
    remove: [],
    droppedFields: [],
  };
}

function nameOf(tool: Readonly<Record<string, unknown>>): string {
  return textOf(objectOf(tool.function)?.name) || textOf(objectOf(tool.custom)?.name);
}
