import { editedValue, withEdits } from "../../../conversation/parts/request/body_edits.ts";
import type { PassThroughRequest } from "../../../conversation/contract/pass_through.ts";
import { isAbsent, isObject, listOf } from "../../../conversation/neutral/wire_value.ts";
import type { JsonEdit } from "../../../platform/lib/json/json_edits.ts";
import type { JsonObject } from "../../../platform/lib/json/json_object.ts";

/** The objects of a part that have an id in the Gemini API, in both spellings. */
const WITH_ID = ["functionCall", "function_call", "functionResponse", "function_response"];

/**
 * A request whose contents Vertex AI accepts. It requires a role, which the Gemini API does not, and rejects ids of
 * calls and results, which it matches by their order. Almost all requests are returned as they are.
 */
export function withVertexContents(request: PassThroughRequest): PassThroughRequest {
  const edits = editsOf(request);
  if (edits.length === 0) return request;
  const { bytes, scan } = withEdits(request, { edits, droppedFields: [] });
  return { ...request, bytes, scan, wholeBody: () => editedValue(request, bytes) };
}

function editsOf({ body, outlineText, wholeBody }: PassThroughRequest): JsonEdit[] {
  const contents = listOf(body.contents);
  const lacksRole = contents.some((content) => isObject(content) && isAbsent(content.role));
  const holdsCalls = /"function_?(?:call|response)"/i.test(outlineText);
  if (!lacksRole && !holdsCalls) return [];
  return listOf(wholeBody().contents).flatMap((content, index) => {
    if (!isObject(content)) return [];
    if (!isAbsent(content.role)) return idEdits(content, index);
    const parts = listOf(content.parts).map(withoutId);
    return [{ path: ["contents", index], value: { ...content, role: "user", parts } }];
  });
}

function idEdits(content: JsonObject, index: number): JsonEdit[] {
  return listOf(content.parts).flatMap((part, position) => {
    const key = idHolderIn(part);
    return key === undefined ? [] : [{ path: ["contents", index, "parts", position, key, "id"], value: undefined }];
  });
}

function withoutId(part: unknown): unknown {
  const key = idHolderIn(part);
  if (!isObject(part) || key === undefined) return part;
  const { id: _removed, ...call } = part[key] as JsonObject;
  return { ...part, [key]: call };
}

function idHolderIn(part: unknown): string | undefined {
  if (!isObject(part)) return undefined;
  return WITH_ID.find((key) => {
    const value = part[key];
    return isObject(value) && !isAbsent(value.id);
  });
}
