import * as z from "zod";
import { about, seconds } from "../schema.ts";

const ImageUsage = z.object({
  input_tokens: z.int(),
  input_tokens_details: z.object({ text_tokens: z.int(), image_tokens: z.int().exactOptional() }),
  num_input_images: z.int().exactOptional(),
  output_tokens: z.int(),
  output_tokens_details: about(
    z.object({ text_tokens: z.int(), image_tokens: z.int() }),
    "Where the vendor counts text or thoughts in the output.",
  ).exactOptional(),
  total_tokens: z.int(),
}).meta({ id: "ImageUsage" });

const SvgUsage = z.object({
  model: about(z.string(), "The author."),
  input_tokens: z.int(),
  output_tokens: z.int(),
  reasoning_tokens: z.int(),
  total_tokens: z.int(),
}).meta({ id: "SvgUsage" });

const svgUsage = () => about(SvgUsage, "Of drawings, in addition to `usage`.").exactOptional();

/** The reply of both image endpoints. */
export const Images = z.object({
  created: seconds(),
  data: z.array(z.object({ b64_json: z.string(), index: z.int() })),
  model: about(z.string(), "The name in the request."),
  size: about(z.string(), "The size that was made."),
  quality: about(z.string(), "The quality that was used."),
  usage: ImageUsage,
  svg_usage: svgUsage(),
}).meta({ id: "Images" });

const look = {
  b64_json: z.string(),
  created_at: seconds(),
  size: z.string(),
  quality: z.string(),
  background: z.string(),
  output_format: z.string(),
};

/** An unfinished picture of a stream. */
export const PartialImage = z.object({
  type: z.enum(["image_generation.partial_image", "image_edit.partial_image"]),
  partial_image_index: z.int(),
  ...look,
}).meta({ id: "PartialImage" });

/** A finished picture of a stream. */
export const CompletedImage = z.object({
  type: z.enum(["image_generation.completed", "image_edit.completed"]),
  index: z.int(),
  model: z.string(),
  ...look,
  usage: about(
    ImageUsage.extend({ cost: about(z.number().exactOptional(), "USD.") }).meta({ id: "ImageUsageWithCost" })
      .exactOptional(),
    "Of the last picture.",
  ),
  svg_usage: svgUsage(),
}).meta({ id: "CompletedImage" });

/** Vectors in the default style. */
export const Embeddings = z.object({
  object: z.literal("list"),
  data: z.array(z.object({
    object: z.literal("embedding"),
    index: z.int(),
    embedding: about(z.union([z.array(z.number()), z.string()]), "Numbers, or base64 of 32-bit floats."),
  })),
  model: z.string(),
  usage: z.object({ prompt_tokens: z.int(), total_tokens: z.int() }),
}).meta({ id: "Embeddings" });

const Vector = z.object({ values: z.array(z.number()) });
const VectorUsage = z.object({ promptTokenCount: z.int() });

/** A vector in the content style. */
export const EmbedContentResponse = z.object({ embedding: Vector, usageMetadata: VectorUsage })
  .meta({ id: "EmbedContentResponse" });

/** Vectors in the content style. */
export const BatchEmbedContentsResponse = z.object({ embeddings: z.array(Vector), usageMetadata: VectorUsage })
  .meta({ id: "BatchEmbedContentsResponse" });

/** Results of moderations. */
export const Moderation = z.object({
  id: z.string(),
  model: z.string(),
  results: z.array(
    z.looseObject({
      flagged: z.boolean(),
      categories: z.record(z.string(), z.unknown()).exactOptional(),
      category_scores: z.record(z.string(), z.unknown()).exactOptional(),
    }),
  ),
}).meta({ id: "Moderation" });

/** Documents by their relevance. */
export const Ranking = z.object({
  id: z.string(),
  object: z.literal("list"),
  model: z.string(),
  results: z.array(z.object({
    index: about(z.int(), "The place in the request."),
    relevance_score: z.number(),
    document: z.object({ text: z.string() }).exactOptional(),
  })),
  usage: z.object({ total_tokens: z.int().nullable(), search_units: z.number().nullable() }),
  meta: z.object({ billed_units: z.object({ search_units: z.number().nullable() }) }),
}).meta({ id: "Ranking" });

/** A transcript in JSON. */
export const Transcript = z.looseObject({ text: z.string() }).meta({
  id: "Transcript",
  description: "The vendor's reply; with `verbose_json` and `diarized_json` it has further members.",
});

/** A cached content. */
export const CachedContent = z.object({
  name: about(z.string(), "`cachedContents/` and the id."),
  model: z.string(),
  displayName: z.string().exactOptional(),
  createTime: z.iso.datetime(),
  updateTime: z.iso.datetime(),
  expireTime: z.iso.datetime(),
  usageMetadata: z.object({ totalTokenCount: z.int() }),
}).meta({ id: "CachedContent" });

/** A page of cached contents. */
export const CachedContentList = z.object({
  cachedContents: z.array(CachedContent),
  nextPageToken: about(z.string(), "Absent on the last page.").exactOptional(),
}).meta({ id: "CachedContentList" });
