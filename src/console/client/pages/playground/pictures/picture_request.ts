import type { Media } from "../conversation.ts";
import { type JsonObject, numberIn, objectIn, objectsIn, textIn } from "../../../json.ts";
import { dataUrl } from "../protocols/media.ts";
import type { ReplyUsage } from "../reply.ts";

/** What chosen pictures are for: one is changed, or they are examples. */
export type ImageUse = "edit" | "reference";

/** What a person has chosen for a picture. Empty texts leave a choice to the model. */
export interface ImageDraft {
  readonly model: string;
  readonly prompt: string;
  readonly quality: string;
  readonly size: string;
  readonly count: number;
  readonly background: string;
  readonly format: string;
  readonly use: ImageUse;
  readonly pictures: readonly Media[];
  /** Transparent where the first picture may change; null without one. */
  readonly mask: Media | null;
}

/** A file of a form. */
export interface FormFile {
  readonly field: "image[]" | "mask";
  /** A plain name, which programs use too. */
  readonly name: string;
  readonly file: Media;
}

/** A request for pictures: JSON, or a form with files. */
export interface WrittenImageRequest {
  readonly path: "/v1/images/generations" | "/v1/images/edits";
  /** The fields apart from files. */
  readonly fields: JsonObject;
  /** Empty for JSON. */
  readonly files: readonly FormFile[];
}

/** Pictures, and what they used. */
export interface ImageAnswer {
  readonly pictures: readonly Media[];
  readonly usage: ReplyUsage | null;
}

/** Writes a request for pictures. Source: docs/api/images.md. */
export function writeImageRequest(order: ImageDraft): WrittenImageRequest {
  const { model, prompt, quality, size, count, background, format, use, pictures, mask } = order;
  const fields = {
    model,
    prompt,
    quality,
    ...size !== "" && { size },
    ...count > 1 && { n: count },
    ...background !== "" && { background },
    ...format !== "" && { output_format: format },
  };
  if (pictures.length === 0) return { path: "/v1/images/generations", fields, files: [] };
  if (use === "reference") {
    return { path: "/v1/images/generations", fields: { ...fields, input_images: pictures.map(dataUrl) }, files: [] };
  }
  const files: FormFile[] = pictures.map((file, place) => ({
    field: "image[]",
    name: `image-${place + 1}.${extensionOf(file)}`,
    file,
  }));
  return {
    path: "/v1/images/edits",
    fields,
    files: mask === null ? files : [...files, { field: "mask", name: "mask.png", file: mask }],
  };
}

function extensionOf({ mediaType }: Media): string {
  return mediaType === "image/jpeg" ? "jpg" : mediaType === "image/webp" ? "webp" : "png";
}

/** The body of a request as it is sent. */
export function bodyOf({ fields, files }: WrittenImageRequest): string | FormData {
  if (files.length === 0) return JSON.stringify(fields);
  const form = new FormData();
  for (const [name, value] of Object.entries(fields)) form.append(name, String(value));
  for (const { field, name, file } of files) {
    const bytes = Uint8Array.from(atob(file.data), (character) => character.charCodeAt(0));
    form.append(field, new Blob([bytes], { type: file.mediaType }), name);
  }
  return form;
}

/** Reads the pictures of an answer. */
export function imagesInReply(body: unknown): ImageAnswer {
  const { data, usage: sent } = objectIn(body);
  const usage = objectIn(sent);
  return {
    pictures: objectsIn(data).map(({ b64_json: content }, place) => pictureOf(textIn(content), place)),
    usage: sent === undefined
      ? null
      : { input: numberIn(usage.input_tokens), output: numberIn(usage.output_tokens), cached: 0, reasoning: 0 },
  };
}

/** The type follows from the first bytes, which base64 keeps apart. */
function pictureOf(data: string, place: number): Media {
  const [type, extension] = data.startsWith("/9j/")
    ? ["image/jpeg", "jpg"]
    : data.startsWith("UklGR")
    ? ["image/webp", "webp"]
    : ["image/png", "png"];
  return { kind: "media", name: `picture-${place + 1}.${extension}`, mediaType: type, data };
}
