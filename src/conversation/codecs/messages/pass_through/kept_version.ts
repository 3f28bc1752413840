import type { JsonObject } from "../../../../platform/lib/json/json_object.ts";
import { ANTHROPIC_VERSIONS, type VersionFacts } from "../../../models/families/anthropic.ts";
import type { WriteResult } from "../../../neutral/write_result.ts";
import { isAbsent, listOf, objectOf, objectsOf } from "../../../neutral/wire_value.ts";

/**
 * The version with which a request that passes through unchanged is sent: the caller's, if the facts have it and it
 * takes the request. Otherwise it is the provider's, which takes what the model takes.
 *
 * @param version As the caller named it.
 * @param body The request's members without long texts.
 */
export function keptVersion(version: string, body: JsonObject): Pick<WriteResult<unknown>, "version"> {
  const facts = ANTHROPIC_VERSIONS.get(version);
  return facts === undefined || isRefused(body, facts) ? {} : { version };
}

function isRefused(body: JsonObject, { refusedMembers, refusesMixedContent }: VersionFacts): boolean {
  if (refusedMembers.some((name) => !isAbsent(body[name]))) return true;
  return refusesMixedContent && objectsOf(body.messages).some(isMixed);
}

/** Whether the assistant's message has a document, or a text of the user has citations. */
function isMixed({ role, content }: JsonObject): boolean {
  const blocks = objectsOf(content);
  if (role === "assistant") return blocks.some(({ type }) => type === "document");
  return blocks.some(hasCitations);
}

/** Citations of texts, and of those in search results, also in the result of a tool. */
function hasCitations({ type, content, citations }: JsonObject): boolean {
  if (type === "text") return listOf(citations).length > 0;
  if (type !== "search_result" && type !== "tool_result") return false;
  return listOf(content).some((inner) => hasCitations(objectOf(inner) ?? {}));
}
