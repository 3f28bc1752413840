import type { JsonObject } from "../../../../platform/lib/json/json_object.ts";
import { idOfKind, type IssuedId, type StatePolicy } from "../../../contract/issued_ids.ts";
import type { IssuedIdReader } from "../../../contract/pass_through.ts";
import { isObject, objectOf, objectsOf } from "../../../neutral/wire_value.ts";

/**
 * Ids in replies of this format. Only members that the vendor writes are read: text that a model can be made to write,
 * such as a tool's input, issues no ids. Files found by a search are not issued. Source: Responses API reference.
 */
export const issuedIds: IssuedIdReader = {
  mayIssue: (text) => text.includes('"id"') || text.includes("container_"),
  issuedIn: (value, policy) => isObject(value) ? idsIn(value, policy) : [],
};

function idsIn(value: JsonObject, policy: StatePolicy): IssuedId[] {
  const response = objectOf(value.response) ?? (value.object === "response" ? value : null);
  const items = [...objectsOf(response?.output), ...objectsOf([value.item])];
  const annotations = [...objectsOf([value.annotation]), ...annotationsIn([value.part])];
  return [
    ...policy.isStored ? idOfKind("response", response?.id) : [],
    ...idOfKind("conversation", objectOf(response?.conversation)?.id ?? response?.conversation),
    ...items.flatMap((item) => idsOfItem(item, policy)),
    ...annotations.flatMap(idsOfAnnotation),
  ];
}

/** Kinds of items that callers send back whole, so that their ids are looked up only if the reply was stored. */
const WHOLE_KINDS: ReadonlySet<unknown> = new Set(["message", "function_call", "custom_tool_call"]);

function idsOfItem(item: JsonObject, { isStored, hasReasoning }: StatePolicy): IssuedId[] {
  const isWhole = WHOLE_KINDS.has(item.type) || (item.type === "reasoning" && hasReasoning);
  return [
    ...isStored || !isWhole ? idOfKind("item", item.id) : [],
    ...idOfKind("container", item.container_id ?? objectOf(item.environment)?.container_id),
    ...annotationsIn(item.content).flatMap(idsOfAnnotation),
  ];
}

function annotationsIn(parts: unknown): JsonObject[] {
  return objectsOf(parts).flatMap(({ annotations }) => objectsOf(annotations));
}

/** The ids of a file that a hosted tool wrote; a file that was only found and cited belongs to the operator. */
function idsOfAnnotation(annotation: JsonObject): IssuedId[] {
  if (annotation.type !== "container_file_citation") return [];
  return [...idOfKind("container", annotation.container_id), ...idOfKind("file", annotation.file_id)];
}
