import type { JsonObject } from "../../../../platform/lib/json/json_object.ts";
import type { ContextReference } from "../../../contract/context_reference.ts";
import { isObject, listOf, objectsOf } from "../../../neutral/wire_value.ts";

/** Shared, because most messages have none. */
const NONE: ContextReference[] = [];

/**
 * Uploaded files named in a system message, as one vendor of the chat format supports: `fileid://file-abc,file-def`.
 */
export function systemFiles(body: JsonObject, wholeText: (text: string) => string): ContextReference[] {
  return listOf(body.messages).flatMap((message, index): ContextReference[] => {
    if (!isObject(message) || message.role !== "system") return NONE;
    const texts = typeof message.content === "string"
      ? [message.content]
      : objectsOf(message.content).flatMap(({ text }) => typeof text === "string" ? [text] : []);
    return texts.flatMap((text) => wholeText(text).match(/fileid:\/\/[^\s,]+/gi) ?? []).map((id) => (
      { kind: "file", id: id.slice("fileid://".length), field: `messages[${index}].content` }
    ));
  });
}
