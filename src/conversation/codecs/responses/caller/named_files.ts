import { invalidField } from "../../../../platform/lib/basics/gateway_error.ts";
import type { JsonObject } from "../../../../platform/lib/json/json_object.ts";
import {
  type CarriedFile,
  dataUriOfFile,
  documentText,
  familyOf,
  type FoundPart,
  inputAudioOf,
  type NamedFile,
  type NamedFilesIn,
  namedText,
  partsIn,
  without,
} from "../../../contract/named_files.ts";
import { textOrNull } from "../../../neutral/wire_value.ts";

/**
 * Files in parts of messages and of results of tools: `input_file` and `input_image` with `file_id`.
 * Source: Responses API reference, "Input".
 */
export const responsesFilesIn: NamedFilesIn = ({ input }) =>
  partsIn(input, "input").flatMap(({ part: item, path }) =>
    ["content", "output"].flatMap((name) => partsIn(item[name], `${path}.${name}`).flatMap(namedIn))
  );

function namedIn({ part, path, replace }: FoundPart): NamedFile[] {
  const id = textOrNull(part.file_id);
  if (id === null || (part.type !== "input_file" && part.type !== "input_image")) return [];
  const field = `${path}.file_id`;
  return [{ id, field, put: (file) => replace(partOf(part, file, field)) }];
}

/** A part of the kind of the content. Vendors take few documents other than PDF, so text is sent as text. */
function partOf(part: JsonObject, file: CarriedFile, field: string): JsonObject {
  const family = familyOf(file);
  const rest = without(part, "type", "file_id", "filename", "file_data", "file_url", "image_url");
  if (family === "image") return { type: "input_image", image_url: dataUriOfFile(file), ...rest };
  if (part.type === "input_image") {
    throw invalidField(field, `expected the id of an image, got that of a file of the type ${file.mediaType}`);
  }
  if (family === "audio") return { type: "input_audio", input_audio: inputAudioOf(file), ...rest };
  const name = textOrNull(part.filename) ?? file.name;
  const text = documentText(file);
  if (text !== null) return { type: "input_text", text: namedText(name, text), ...rest };
  return { type: "input_file", filename: name, file_data: dataUriOfFile(file), ...rest };
}
