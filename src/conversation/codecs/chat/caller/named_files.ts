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
import { objectOf, textOrNull } from "../../../neutral/wire_value.ts";

/** Files in parts of messages: `{type: "file", file: {file_id}}`. Source: Chat Completions reference. */
export const chatFilesIn: NamedFilesIn = ({ messages }) =>
  partsIn(messages, "messages").flatMap(({ part: message, path }) =>
    partsIn(message.content, `${path}.content`).flatMap(namedIn)
  );

function namedIn({ part, path, replace }: FoundPart): NamedFile[] {
  const file = part.type === "file" ? objectOf(part.file) : null;
  const id = textOrNull(file?.file_id);
  if (file === null || id === null) return [];
  const rest = without(part, "type", "file");
  return [{ id, field: `${path}.file.file_id`, put: (content) => replace({ ...partOf(file, content), ...rest }) }];
}

/** A part of the kind of the content. Vendors take few documents other than PDF, so text is sent as text. */
function partOf(file: JsonObject, content: CarriedFile): JsonObject {
  const name = textOrNull(file.filename) ?? content.name;
  const family = familyOf(content);
  if (family === "image") return { type: "image_url", image_url: { url: dataUriOfFile(content) } };
  if (family === "video") return { type: "video_url", video_url: { url: dataUriOfFile(content) } };
  if (family === "audio") return { type: "input_audio", input_audio: inputAudioOf(content) };
  const text = documentText(content);
  if (text !== null) return { type: "text", text: namedText(name, text) };
  return { type: "file", file: { filename: name, file_data: dataUriOfFile(content) } };
}
