import type { JsonObject } from "../../../../platform/lib/json/json_object.ts";
import { idOfKind, type IssuedId, type StatePolicy } from "../../../contract/issued_ids.ts";
import type { IssuedIdReader } from "../../../contract/pass_through.ts";
import { isObject, objectOf, objectsOf } from "../../../neutral/wire_value.ts";

/** Ids in replies of this format: containers, files written by code, and threads. Source: Messages API reference. */
export const issuedIds: IssuedIdReader = {
  mayIssue: (text, { isThread }) =>
    text.includes('"container"') || text.includes('"file_id"') || (isThread && text.includes("msg_")),
  issuedIn: (value, policy) => isObject(value) ? idsIn(value, policy) : [],
};

function idsIn(value: JsonObject, { isThread }: StatePolicy): IssuedId[] {
  const message = objectOf(value.message) ?? value;
  const blocks = [...objectsOf(message.content), ...objectsOf([value.content_block])];
  const outputs = blocks
    .filter(({ type }) => typeof type === "string" && type.endsWith("code_execution_tool_result"))
    .flatMap(({ content }) => objectsOf(objectOf(content)?.content));
  return [
    ...isThread && message.type === "message" ? idOfKind("thread", message.id) : [],
    ...idOfKind("container", (objectOf(message.container) ?? objectOf(objectOf(value.delta)?.container))?.id),
    ...outputs.flatMap(({ file_id: id }) => idOfKind("file", id)),
  ];
}
