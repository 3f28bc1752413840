import * as z from "zod";
import { SPEECH_FORMATS } from "../../src/vendors/catalog/sections/capability_sections.ts";
import {
  IMAGE_FORMATS,
  IMAGE_QUALITIES,
  IMAGE_SIZES,
  VIDEO_RATIOS,
  VIDEO_RESOLUTIONS,
} from "../../src/vendors/catalog/sections/media_sections.ts";
import { BATCH_LIMITS, LINE_ENDPOINTS } from "../../src/services/batches/records/batch.ts";
import { MAX_STORED_FILE_BYTES, UPLOAD_PURPOSES } from "../../src/services/stored_files/stored_file.ts";
import { about } from "./schema.ts";

// The bodies of callers' requests, which are read by hand. A field that is null counts as absent, and unknown fields
// are ignored or named in `X-Service-Dropped`. Sources: docs/api/images.md, videos.md, audio.md and others.

/** The pin in a body. */
export const extraBody = () =>
  z.looseObject({
    provider: z.looseObject({ type: z.string().nullish() }).nullish(),
    cached_content: about(z.string(), "The name of a cached content, for text requests.").nullish(),
  }).meta({ id: "ExtraBody", description: "What is for the gateway alone, such as the pin `provider.type`." })
    .nullish();

const flag = () => z.boolean().nullish();
const output = {
  output_format: about(z.enum(IMAGE_FORMATS), "That the model has.").nullish(),
  background: z.enum(["transparent", "opaque", "auto"]).nullish(),
};

/** Sent to vendors that have them. */
const imageExtras = {
  output_compression: z.int().min(0).max(100),
  moderation: z.enum(["auto", "low"]),
  user: z.string(),
  safety_identifier: z.string(),
  frame_count: about(z.int().min(2).max(16), "For `gif`. Default 9."),
  frame_duration_ms: about(z.int().min(1).max(655_350), "For `gif`. Default 200."),
};

/** The author of a drawing. */
const svg = about(
  z.looseObject({
    model: z.string().nullish(),
    reasoning: z.looseObject({ effort: z.string().nullish() }).nullish(),
  }),
  "For `svg`: the model that writes the drawing, and its effort.",
);

/** `POST /v1/images/generations`. */
export const ImageGeneration = z.looseObject({
  model: z.string(),
  prompt: z.string(),
  quality: z.enum(IMAGE_QUALITIES),
  n: about(z.int().min(1).max(10), "Default 1. Not for the `multimodal` series.").nullish(),
  size: z.enum(IMAGE_SIZES).nullish(),
  input_images: about(z.array(z.string()), "References for the `reference` series: addresses, `data:` URIs or base64.")
    .nullish(),
  ...output,
  stream: flag(),
  partial_images: about(z.int().min(0).max(3), "For streams.").nullish(),
  output_compression: imageExtras.output_compression.nullish(),
  moderation: imageExtras.moderation.nullish(),
  user: imageExtras.user.nullish(),
  safety_identifier: imageExtras.safety_identifier.nullish(),
  frame_count: imageExtras.frame_count.nullish(),
  frame_duration_ms: imageExtras.frame_duration_ms.nullish(),
  svg: svg.nullish(),
  extra_body: extraBody(),
}).meta({ id: "ImageGeneration" });

const file = (description: string) => z.any().meta({ type: "string", format: "binary", description });
const oneOrMore = (item: z.ZodType) => z.union([item, z.array(item)]);

/** `POST /v1/images/edits`. */
export const ImageEdit = z.looseObject({
  model: z.string(),
  image: oneOrMore(file("PNG or JPEG; one or several.")),
  mask: file("A PNG; its transparent parts may change.").optional(),
  prompt: z.string(),
  quality: z.enum(["low", "medium", "high", "xhigh", "max"]),
  n: z.int().min(1).max(10).optional(),
  size: z.enum(IMAGE_SIZES).optional(),
  input_fidelity: z.string().optional(),
  output_format: about(z.enum(IMAGE_FORMATS), "That the model has.").optional(),
  background: z.enum(["transparent", "opaque", "auto"]).optional(),
  stream: z.boolean().optional(),
  partial_images: z.int().min(0).max(3).optional(),
  output_compression: imageExtras.output_compression.optional(),
  moderation: imageExtras.moderation.optional(),
  user: imageExtras.user.optional(),
  safety_identifier: imageExtras.safety_identifier.optional(),
  frame_count: imageExtras.frame_count.optional(),
  frame_duration_ms: imageExtras.frame_duration_ms.optional(),
  "svg[model]": about(z.string(), "For `svg`: the model that writes the drawing.").optional(),
  "svg[reasoning][effort]": z.string().optional(),
}).meta({ id: "ImageEdit" });

const fileId = () => about(z.string(), "A stored file.");

const reference = z.union([
  z.string(),
  z.looseObject({ image_url: z.string() }),
  z.looseObject({ file_id: fileId() }),
]);

/** `POST /v1/images/edits` as JSON. */
export const ImageEditBody = z.looseObject({
  model: z.string(),
  images: about(
    z.array(reference).min(1).max(16),
    "Addresses, `data:` URIs or base64, as text or as `image_url`, or stored files as `file_id`.",
  ),
  mask: about(reference, "A PNG; its transparent parts may change.").nullish(),
  prompt: z.string(),
  quality: z.enum(["low", "medium", "high", "xhigh", "max"]),
  n: z.int().min(1).max(10).nullish(),
  size: z.enum(IMAGE_SIZES).nullish(),
  input_fidelity: z.string().nullish(),
  ...output,
  stream: flag(),
  partial_images: z.int().min(0).max(3).nullish(),
  output_compression: imageExtras.output_compression.nullish(),
  moderation: imageExtras.moderation.nullish(),
  user: imageExtras.user.nullish(),
  safety_identifier: imageExtras.safety_identifier.nullish(),
  frame_count: imageExtras.frame_count.nullish(),
  frame_duration_ms: imageExtras.frame_duration_ms.nullish(),
  svg: svg.nullish(),
  extra_body: extraBody(),
}).meta({ id: "ImageEditBody" });

const mediaOf = <Name extends string>(type: Name, more: z.ZodRawShape = {}) =>
  z.looseObject({
    type: z.literal(type),
    [type]: z.union([z.looseObject({ url: z.string() }), z.looseObject({ file_id: fileId() })]),
    ...more,
  });

/** `POST /v1/videos`. */
export const VideoCreate = z.looseObject({
  model: z.string(),
  prompt: z.string().max(10_000),
  duration: about(z.int(), "Seconds; one of the model's lengths. `-1` leaves it to the vendor where that is possible.")
    .nullish(),
  resolution: z.enum(VIDEO_RESOLUTIONS).nullish(),
  aspect_ratio: z.enum(VIDEO_RATIOS).nullish(),
  size: about(z.string().regex(/^\d+x\d+$/), "`<WIDTH>x<HEIGHT>`; not together with `resolution` or `aspect_ratio`.")
    .nullish(),
  frame_images: about(
    z.array(mediaOf("image_url", { frame_type: z.enum(["first_frame", "last_frame"]) })),
    "First and last frame.",
  ).nullish(),
  input_references: about(
    z.array(z.union([mediaOf("image_url"), mediaOf("audio_url"), mediaOf("video_url")])),
    "References for subject or style.",
  ).nullish(),
  real_person: about(z.boolean(), "Prepares the pictures for vendors that look for faces.").nullish(),
  generate_audio: about(z.boolean(), "For models that can do both.").nullish(),
  seed: z.int().min(-1).nullish(),
  callback_url: about(z.string(), "Where the event goes: https and a public address.").nullish(),
  metadata: about(z.record(z.string(), z.string()), "The caller's own pairs.").nullish(),
  provider: z.looseObject({
    type: about(z.string(), "The pin.").nullish(),
    options: about(z.record(z.string(), z.unknown()), "Parameters of vendors by provider name.").nullish(),
  }).nullish(),
  seconds: about(z.union([z.int(), z.string()]), "OpenAI's name of `duration`.").nullish(),
  input_reference: about(
    z.union([z.looseObject({ image_url: z.string().nullish(), file_id: fileId().nullish() }), z.string()]),
    "OpenAI's name of the first frame: an address or a `data:` URI, or a stored file.",
  ).nullish(),
}).meta({ id: "VideoCreate" });

/** The same as a form. */
export const VideoCreateForm = z.looseObject({
  model: z.string(),
  prompt: z.string(),
  duration: z.int().optional(),
  seconds: z.int().optional(),
  resolution: z.enum(VIDEO_RESOLUTIONS).optional(),
  aspect_ratio: z.enum(VIDEO_RATIOS).optional(),
  size: z.string().optional(),
  frame_images: about(z.string(), "JSON.").optional(),
  input_references: about(z.string(), "JSON.").optional(),
  input_reference: file("The first frame.").optional(),
  real_person: z.boolean().optional(),
  generate_audio: z.boolean().optional(),
  seed: z.int().optional(),
  callback_url: z.string().optional(),
  metadata: about(z.string(), "JSON, or fields such as `metadata[order]`.").optional(),
  provider: about(z.string(), "JSON.").optional(),
}).meta({ id: "VideoCreateForm" });

/** `POST /v1/embeddings`. */
export const EmbeddingRequest = z.looseObject({
  model: z.string(),
  input: about(
    z.union([z.string(), z.array(z.string()), z.array(z.int()), z.array(z.array(z.int()))]),
    "A text, texts, the ids of a text's tokens, or a list of such lists.",
  ),
  encoding_format: z.enum(["float", "base64"]).nullish(),
  dimensions: z.int().min(1).max(65_536).nullish(),
  extra_body: extraBody(),
}).meta({ id: "EmbeddingRequest" });

const embedContent = {
  content: z.looseObject({ parts: z.array(z.looseObject({})) }),
  model: about(z.string(), "That of the path.").nullish(),
  taskType: z.string().nullish(),
  title: z.string().nullish(),
  outputDimensionality: z.int().nullish(),
};

/** `:embedContent`. */
export const EmbedContentRequest = z.looseObject(embedContent).meta({ id: "EmbedContentRequest" });

/** `:batchEmbedContents`. */
export const BatchEmbedContentsRequest = z.looseObject({ requests: z.array(EmbedContentRequest) })
  .meta({ id: "BatchEmbedContentsRequest" });

/** `POST /v1/moderations`. */
export const ModerationRequest = z.looseObject({
  model: about(z.string(), "Default: the first of the catalog.").nullish(),
  input: about(
    z.union([z.string(), z.array(z.string()), z.array(z.looseObject({ type: z.enum(["text", "image_url"]) }))]),
    "A text, texts, or parts that are checked together.",
  ),
  extra_body: extraBody(),
}).meta({ id: "ModerationRequest" });

/** `POST /v1/rerank`. */
export const RerankRequest = z.looseObject({
  model: z.string(),
  query: z.string().min(1),
  documents: z.array(z.union([z.string(), z.looseObject({ text: z.string() })])).min(1),
  top_n: z.int().min(1).nullish(),
  return_documents: flag(),
  extra_body: extraBody(),
}).meta({ id: "RerankRequest" });

/** `POST /v1/audio/speech`. */
export const SpeechRequest = z.looseObject({
  model: z.string(),
  input: z.string(),
  voice: z.union([z.string(), z.looseObject({ id: z.string() })]),
  response_format: z.enum(SPEECH_FORMATS).nullish(),
  speed: z.number().min(0.25).max(4).nullish(),
  instructions: z.string().max(10_000).nullish(),
  stream_format: z.enum(["audio", "sse"]).nullish(),
  extra_body: extraBody(),
}).meta({ id: "SpeechRequest" });

/** `POST /v1/audio/transcriptions` and `/translations`. */
export const TranscriptRequest = z.looseObject({
  file: file("flac, mp3, mp4, m4a, ogg, wav, webm or aac."),
  model: z.string(),
  response_format: z.enum(["json", "text", "srt", "verbose_json", "vtt", "diarized_json"]).optional(),
  prompt: z.string().optional(),
  temperature: z.number().min(0).max(1).optional(),
  language: about(z.string(), "For transcriptions.").optional(),
  chunking_strategy: about(z.string(), "For transcriptions.").optional(),
  "timestamp_granularities[]": about(oneOrMore(z.string()), "For transcriptions.").optional(),
  "include[]": about(oneOrMore(z.string()), "For transcriptions.").optional(),
}).meta({ id: "TranscriptRequest" });

/** `POST /v1/batches`. */
export const BatchCreate = z.looseObject({
  endpoint: z.enum([...LINE_ENDPOINTS.keys()]),
  completion_window: about(z.enum(["24h"]), "Needed with `input_file_id`.").optional(),
  input_file_id: about(z.string(), "A file of the purpose `batch`; or `requests` in its place.").optional(),
  requests: about(
    z.array(z.looseObject({ custom_id: z.string(), body: z.looseObject({}) })).min(1).max(BATCH_LIMITS.inlineRequests),
    "The lines, in place of a file.",
  ).optional(),
  model: about(z.string(), "For `requests` without a model.").optional(),
  metadata: z.record(z.string(), z.string()).nullish(),
  output_expires_after: z.looseObject({
    anchor: z.literal("created_at"),
    seconds: z.int().min(3_600).max(2_592_000),
  }).nullish(),
  callback_url: about(z.string(), "Gets the event of the end.").nullish(),
}).meta({ id: "BatchCreate" });

/** `POST /v1/files`. */
export const FileCreate = z.looseObject({
  file: file("The content."),
  purpose: z.enum(UPLOAD_PURPOSES),
  "expires_after[anchor]": z.literal("created_at").optional(),
  "expires_after[seconds]": about(z.int().min(3_600).max(2_592_000), "The lifetime of the file.").optional(),
}).meta({ id: "FileCreate" });

/** `POST /v1/uploads`. */
export const UploadCreate = z.looseObject({
  filename: z.string().min(1).max(255),
  purpose: z.enum(UPLOAD_PURPOSES),
  bytes: about(z.int().min(1).max(MAX_STORED_FILE_BYTES), "The size of the whole file."),
  mime_type: about(z.string(), "Ignored: the type follows from the content.").nullish(),
  expires_after: z.looseObject({
    anchor: z.literal("created_at"),
    seconds: z.int().min(3_600).max(2_592_000),
  }).nullish(),
}).meta({ id: "UploadCreate" });

/** `POST /v1/uploads/{id}/parts`. */
export const UploadPartCreate = z.looseObject({ data: file("The bytes.") }).meta({ id: "UploadPartCreate" });

/** `POST /v1/uploads/{id}/complete`. */
export const UploadComplete = z.looseObject({
  part_ids: about(z.array(z.string()).min(1).max(500), "In the order of the file."),
  md5: about(z.string(), "The hash of the whole file, hexadecimal.").nullish(),
}).meta({ id: "UploadComplete" });

const lifetime = {
  ttl: about(z.string(), "Whole seconds: `600s`.").nullish(),
  expireTime: about(z.string(), "An instant, in place of `ttl`.").nullish(),
};

/** `POST …/cachedContents`. */
export const CachedContentCreate = z.looseObject({
  model: z.string(),
  displayName: z.string().nullish(),
  contents: z.array(z.looseObject({})).nullish(),
  systemInstruction: z.union([z.looseObject({}), z.string()]).nullish(),
  tools: z.array(z.looseObject({})).nullish(),
  toolConfig: z.looseObject({}).nullish(),
  ...lifetime,
}).meta({ id: "CachedContentCreate" });

/** `PATCH …/cachedContents/{id}`. */
export const CachedContentChange = z.looseObject(lifetime).meta({ id: "CachedContentChange" });
