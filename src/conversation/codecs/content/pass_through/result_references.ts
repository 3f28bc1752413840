import { hasQuoted } from "../../../../platform/lib/text/word_search.ts";
import { JsonRewrite } from "../../../../platform/lib/json/json_edits.ts";
import { type BodyEdits, NO_EDITS } from "../../../parts/request/body_edits.ts";
import type { PassThroughRequest } from "../../../contract/pass_through.ts";
import { isObject, listOf, objectsOf } from "../../../neutral/wire_value.ts";
import { OUTPUT } from "../shared/tool_results.ts";

const RESPONSES = ["functionResponse", "function_response"];
const RESULT = /"function_?[rR]esponse"/;

/**
 * Sends the result of a function as text if it has a member `$ref`, such as a schema. The vendor reads it at any depth
 * as a reference to a part of the result, and refuses those that name none. Source: vercel/ai#14369.
 */
export function resultReferenceEditsOf({ outlineText, wholeBody }: PassThroughRequest): BodyEdits {
  if (!hasQuoted(outlineText, '$ref"') || !RESULT.test(outlineText)) return NO_EDITS;
  const edits = listOf(wholeBody().contents).flatMap((content, index) =>
    listOf(isObject(content) ? content.parts : []).flatMap((part, position) =>
      RESPONSES.filter((name) => isObject(part) && hasOtherReference(part[name])).map((name) => ({
        path: ["contents", index, "parts", position, name, "response"],
        value: new JsonRewrite((json) => `{"${OUTPUT}":${JSON.stringify(json)}}`),
      }))
    )
  );
  return edits.length === 0 ? NO_EDITS : { edits, droppedFields: [] };
}

/** Whether a result has a reference that names none of its parts. */
function hasOtherReference(result: unknown): boolean {
  if (!isObject(result)) return false;
  const names = objectsOf(result.parts).flatMap((part) =>
    Object.values(part).flatMap((media) => isObject(media) ? [media.displayName ?? media.display_name] : [])
  );
  return refersToOther(result.response, names);
}

function refersToOther(value: unknown, names: readonly unknown[]): boolean {
  if (Array.isArray(value)) return value.some((each) => refersToOther(each, names));
  if (!isObject(value)) return false;
  if ("$ref" in value && !names.includes(value.$ref)) return true;
  return Object.values(value).some((each) => refersToOther(each, names));
}
