import { invalidField } from "../../../../platform/lib/basics/gateway_error.ts";
import type { JsonObject } from "../../../../platform/lib/json/json_object.ts";
import {
  base64OfFile,
  type CarriedFile,
  documentText,
  familyOf,
  type FoundPart,
  type NamedFile,
  type NamedFilesIn,
  partsIn,
} from "../../../contract/named_files.ts";
import { objectOf, textOrNull } from "../../../neutral/wire_value.ts";

/**
 * Files in blocks of messages and of results of tools: `image` and `document` with the source `{type: "file"}`.
 * Source: Messages API reference, "Files".
 */
export const messagesFilesIn: NamedFilesIn = ({ messages }) =>
  partsIn(messages, "messages").flatMap(({ part, path }) => blocksIn(part.content, `${path}.content`));

function blocksIn(content: unknown, path: string): NamedFile[] {
  return partsIn(content, path).flatMap((found) => {
    const { part, path } = found;
    return part.type === "tool_result" ? partsIn(part.content, `${path}.content`).flatMap(namedIn) : namedIn(found);
  });
}

function namedIn({ part, path, replace }: FoundPart): NamedFile[] {
  const { type } = part;
  if (type !== "image" && type !== "document") return [];
  const source = objectOf(part.source);
  const id = source?.type === "file" ? textOrNull(source.file_id) : null;
  if (id === null) return [];
  const field = `${path}.source.file_id`;
  return [{ id, field, put: (file) => replace({ ...part, source: sourceOf(type, file, field) }) }];
}

function sourceOf(type: "image" | "document", file: CarriedFile, field: string): JsonObject {
  const { mediaType } = file;
  const text = type === "document" ? documentText(file) : null;
  if (text !== null) return { type: "text", media_type: "text/plain", data: text };
  const isRead = type === "image" ? familyOf(file) === "image" : mediaType === "application/pdf";
  if (isRead) return { type: "base64", media_type: mediaType, data: base64OfFile(file) };
  const expected = type === "image" ? "an image" : "a PDF or a text";
  throw invalidField(field, `expected the id of ${expected}, got that of a file of the type ${mediaType}`);
}
