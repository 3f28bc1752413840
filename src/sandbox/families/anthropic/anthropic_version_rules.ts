import { isAbsent, isObject, listOf, objectsOf } from "../../../conversation/neutral/wire_value.ts";
import type { JsonObject } from "../../../platform/lib/json/json_object.ts";
import { invalidRequest } from "./anthropic_fields.ts";

/** The version that refuses sampling settings and mixed content. */
const STRICT_VERSION = "2026-10-21";

/**
 * Rejects what a version of the API rejects of every model. Source: Anthropic API reference, "Versions".
 *
 * @param version The value of the header field `anthropic-version`.
 * @throws {Refusal}
 */
export function checkVersion(version: string, body: JsonObject): void {
  if (version < STRICT_VERSION) return;
  for (const name of ["temperature", "top_p", "top_k"]) {
    if (!isAbsent(body[name])) throw invalidRequest(name, "Extra inputs are not permitted");
  }
  objectsOf(body.messages).forEach(({ role, content }, index) => {
    objectsOf(content).forEach((block, position) => {
      checkBlock(block, role === "assistant", `messages.${index}.content.${position}`);
    });
  });
}

function checkBlock(block: JsonObject, isOfAssistant: boolean, path: string): void {
  if (isOfAssistant) {
    if (block.type === "document") throw invalidRequest(path, "documents are not permitted in assistant messages");
    return;
  }
  if (block.type === "text" && listOf(block.citations).length > 0) {
    throw invalidRequest(`${path}.text.citations`, "citations are not permitted in user messages");
  }
  if (block.type !== "search_result" && block.type !== "tool_result") return;
  listOf(block.content).forEach((inner, index) => {
    if (isObject(inner)) checkBlock(inner, false, `${path}.content.${index}`);
  });
}
