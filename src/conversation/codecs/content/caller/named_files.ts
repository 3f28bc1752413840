import type { JsonObject } from "../../../../platform/lib/json/json_object.ts";
import {
  base64OfFile,
  type FoundPart,
  type NamedFile,
  type NamedFilesIn,
  partsIn,
  without,
} from "../../../contract/named_files.ts";
import { objectOf, textOrNull } from "../../../neutral/wire_value.ts";
import { field, spellingOf } from "../shared/fields.ts";

/**
 * Files in parts of contents: `fileData` with the name of a file, also in a request to count tokens.
 * Source: Gemini API reference, "FileData".
 */
export const contentFilesIn: NamedFilesIn = (body) => {
  const inner = objectOf(field(body, "generateContentRequest"));
  return [
    ...inContents(body, ""),
    ...inner === null ? [] : inContents(inner, `${spellingOf(body, "generateContentRequest")}.`),
  ];
};

function inContents({ contents }: JsonObject, path: string): NamedFile[] {
  return partsIn(contents, `${path}contents`).flatMap(({ part: content, path }) =>
    partsIn(content.parts, `${path}.parts`).flatMap(namedIn)
  );
}

function namedIn({ part, path, replace }: FoundPart): NamedFile[] {
  const data = objectOf(field(part, "fileData"));
  const id = textOrNull(data && field(data, "fileUri"));
  if (data === null || id === null) return [];
  const rest = without(part, "fileData", "file_data");
  return [{
    id,
    field: `${path}.${spellingOf(part, "fileData")}.${spellingOf(data, "fileUri")}`,
    put: (file) => replace({ inlineData: { mimeType: file.mediaType, data: base64OfFile(file) }, ...rest }),
  }];
}
