import { readUploadForm, type UploadForm, type UploadFormLimits, type UploadFormParts } from "../calls/upload_form.ts";
import { capableModels } from "../../vendors/catalog/capable_models.ts";
import type { CapabilitySections } from "../../vendors/catalog/sections/capability_schemas.ts";
import type { Catalog } from "../../vendors/catalog/catalog.ts";
import type { Model } from "../../vendors/catalog/model.ts";
import { CALLER_ENDPOINTS } from "../../platform/endpoints/callers.ts";
import type { RequestSpool, Spooled } from "../../platform/files/spool.ts";
import type { BodySource } from "../../platform/http/bodies/body.ts";
import { closingError } from "../../platform/http/bodies/form_text.ts";
import { GatewayError, invalidField } from "../../platform/lib/basics/gateway_error.ts";
import { MEDIA_TYPE_HEAD_BYTES, mediaTypeOf } from "../../platform/lib/media/media_type.ts";
import { ownValue } from "../../platform/lib/collections/own_value.ts";
import {
  TRANSCRIPT_FORMATS,
  type TranscriptFormat,
  type TranscriptOrder,
} from "../../vendors/upstreams/contract/transcript_upstream.ts";

/** A model that writes audio down. */
export type TranscriptModel = Model & Required<Pick<CapabilitySections, "transcription">>;

/** A request to write audio down. */
export interface TranscriptRequest extends Pick<TranscriptOrder, "translates" | "filename" | "format" | "fields"> {
  /** The model, then the fallbacks that are tried if all of its providers fail. */
  readonly models: readonly TranscriptModel[];
  /** The model as the caller named it. */
  readonly modelName: string;
  readonly audio: Spooled;
  /** By the first bytes of the audio. */
  readonly mediaType: string;
  /** The characters of the prompt. */
  readonly promptCharacters: number;
  /** The fields that no vendor receives. */
  readonly droppedFields: readonly string[];
}

/** Source: OpenAI API reference, "Create transcription". */
const TRANSCRIPTION_TEXTS = ["language", "prompt", "temperature", "chunking_strategy"] as const;
const TRANSLATION_TEXTS = ["prompt", "temperature"] as const;
const LISTS = [
  "timestamp_granularities[]",
  "include[]",
  "keywords[]",
  "languages[]",
  "known_speaker_names[]",
  "known_speaker_references[]",
] as const;

const PARTS: UploadFormParts = {
  texts: new Set(["model", "response_format", "stream", ...TRANSCRIPTION_TEXTS]),
  lists: new Set(LISTS),
  uploadField(name, uploads) {
    if (name !== "file") return null;
    if (uploads.length > 0) throw closingError(invalidField("file", "expected one file, got two"));
    return "file";
  },
};

/** The extensions by which vendors tell the format, by the media type of the first bytes. */
const EXTENSIONS: Readonly<Record<string, string>> = {
  "audio/mpeg": "mp3",
  "audio/wav": "wav",
  "audio/vnd.wave": "wav",
  "audio/x-wav": "wav",
  "audio/flac": "flac",
  "audio/x-flac": "flac",
  "audio/ogg": "ogg",
  "audio/ogg; codecs=opus": "ogg",
  "audio/opus": "ogg",
  "video/ogg": "ogg",
  "application/ogg": "ogg",
  "audio/aac": "aac",
  "audio/mp4": "m4a",
  "audio/x-m4a": "m4a",
  "video/mp4": "mp4",
  "video/quicktime": "mp4",
  "audio/webm": "webm",
  "video/webm": "webm",
  "video/matroska": "webm",
  "video/x-matroska": "webm",
};

/**
 * Reads the form of `POST /v1/audio/transcriptions` or `/v1/audio/translations`. The caller of this function clears the
 * spool. Source: docs/api/audio.md#transcriptions.
 *
 * @throws {GatewayError} `invalid_request`, naming the field; `model_not_found`, `request_too_large` or `overloaded`.
 */
export async function readTranscriptRequest(
  source: BodySource,
  catalog: Catalog,
  { translates, limits, room }: {
    readonly translates: boolean;
    readonly limits: UploadFormLimits;
    readonly room: RequestSpool;
  },
): Promise<TranscriptRequest> {
  const form = await readUploadForm(source, { limits, parts: PARTS, room });
  const { fields } = form;
  const modelName = fields.get("model") ?? "";
  const models = transcriptModels(catalog, modelName, translates);
  const format = formatOf(fields.get("response_format"));
  refuseStream(fields.get("stream"));
  const audio = form.uploads[0]?.file;
  if (audio === undefined) throw invalidField("file", "expected a file upload");
  const mediaType = await mediaTypeOf(await audio.head(MEDIA_TYPE_HEAD_BYTES));
  const extension = ownValue(EXTENSIONS, mediaType ?? "");
  if (mediaType === null || extension === undefined) {
    throw invalidField("file", "expected audio: flac, mp3, mp4, m4a, ogg, wav, webm or aac");
  }
  return {
    models,
    modelName,
    translates,
    audio,
    mediaType,
    // The caller's own name of the file is not used, as it can contain a path.
    filename: `audio.${extension}`,
    format,
    fields: sentFields(form, translates),
    promptCharacters: fields.get("prompt")?.length ?? 0,
    droppedFields: [...form.unknown, ...translates ? untranslatedFields(form) : []].filter((name) => name !== ""),
  };
}

function transcriptModels(catalog: Catalog, name: string, translates: boolean): readonly TranscriptModel[] {
  const models = capableModels(catalog, name, { isCapable: isTranscriptModel, does: "write audio down" });
  if (!translates) return models;
  const [{ id, transcription }] = models;
  if (!transcription.translates) {
    throw invalidField(
      "model",
      `"${id}" does not translate; it is served by ${CALLER_ENDPOINTS.createTranscription.path}`,
    );
  }
  return models.filter((model) => model.transcription.translates);
}

function isTranscriptModel(model: Model): model is TranscriptModel {
  return model.transcription !== undefined;
}

function formatOf(value: string = "json"): TranscriptFormat {
  const format = TRANSCRIPT_FORMATS.find((each) => each === value);
  if (format === undefined) throw invalidField("response_format", `expected one of ${TRANSCRIPT_FORMATS.join(", ")}`);
  return format;
}

function refuseStream(value: string | undefined): void {
  if (value === undefined || value === "false") return;
  throw new GatewayError("invalid_request", "Cannot stream a transcription: leave out the field, or send false", {
    field: "stream",
  });
}

function sentFields({ fields, lists }: UploadForm, translates: boolean): readonly (readonly [string, string])[] {
  const temperature = fields.get("temperature");
  if (temperature !== undefined && !/^(?:0(?:\.\d+)?|1(?:\.0+)?)$/.test(temperature)) {
    throw invalidField("temperature", "expected a number from 0 to 1");
  }
  const texts = translates ? TRANSLATION_TEXTS : TRANSCRIPTION_TEXTS;
  const sent = texts.flatMap((name) => {
    const text = fields.get(name);
    return text === undefined ? [] : [[name, text] as const];
  });
  if (translates) return sent;
  return [...sent, ...LISTS.flatMap((name) => (lists.get(name) ?? []).map((text) => [name, text] as const))];
}

/** The fields that only transcriptions have. */
function untranslatedFields({ fields, lists }: UploadForm): string[] {
  const others = TRANSCRIPTION_TEXTS.filter((name) => !(TRANSLATION_TEXTS as readonly string[]).includes(name));
  return [...others.filter((name) => fields.has(name)), ...LISTS.filter((name) => (lists.get(name) ?? []).length > 0)];
}
