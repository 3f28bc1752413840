import * as z from "zod";
import type { Capabilities } from "../../../src/protocols/message/capabilities.ts";
import { about, seconds, usd, written } from "../schema.ts";

const tokens = () => about(z.int(), "Tokens; 0 if unknown.");
const date = () => about(z.string().nullable(), "The date from which the vendor does not serve it.");

/** What a model reads and makes. */
export const Architecture = z.object({
  modality: about(z.string(), "Such as `text+image->text`."),
  input_modalities: z.array(z.string()),
  output_modalities: z.array(z.string()),
  tokenizer: z.string(),
  instruct_type: z.string().nullable(),
}).meta({ id: "Architecture" });

/** Prices of a model. */
export const Pricing = z.record(z.string(), usd("The price of one token, or of what the name states"))
  .meta({ id: "Pricing", description: "US dollars by price: `prompt`, `completion`, `per_image` and others." });

/** The prices of a model under conditions, and those that are still to come. */
export const PriceChanges = about(
  z.array(
    z.object({
      min_prompt_tokens: z.int().exactOptional(),
      utc_start: z.string().exactOptional(),
      utc_end: z.string().exactOptional(),
      days: z.array(z.string()).exactOptional(),
      except: z.array(z.string()).exactOptional(),
      from: z.string().exactOptional(),
      until: z.string().exactOptional(),
      service_tier: z.string().exactOptional(),
      region: z.string().exactOptional(),
      batch: z.boolean().exactOptional(),
    }).catchall(z.string()),
  ),
  "Prices under conditions, and prices to come: each with its conditions, and the prices of `pricing` that differ then.",
);

/** The model that the vendor answers with. */
export const Redirect = about(
  z.object({ model: z.string(), from: z.string() }),
  "The model that the vendor answers with in its place, for requests from a time in UTC on.",
);

const TopProvider = z.object({
  context_length: tokens(),
  max_completion_tokens: tokens(),
  is_moderated: z.boolean(),
}).meta({ id: "TopProvider" });

/** The video options of a model. */
export const VideoOptions = z.object({
  modes: z.array(z.string()),
  resolutions: z.array(z.string()),
  default_resolution: z.string().nullable(),
  aspect_ratios: z.array(z.string()),
  duration: about(
    z.object({
      min: z.int(),
      max: z.int(),
      only: about(z.array(z.int()), "The only lengths.").exactOptional(),
      default: z.int(),
      auto: about(z.boolean(), "Whether the vendor can choose."),
    }),
    "Seconds.",
  ),
  audio: z.string(),
  max_references: z.object({ image: z.int(), audio: z.int(), video: z.int() }),
}).meta({ id: "VideoOptions" });

/** A model in the default style. */
export const Model = z.object({
  id: z.string(),
  object: z.literal("model"),
  created: seconds(),
  owned_by: z.string(),
  canonical_slug: about(z.string(), "Never changes."),
  name: z.string(),
  description: z.string(),
  context_length: tokens(),
  architecture: Architecture,
  pricing: Pricing,
  top_provider: TopProvider,
  per_request_limits: z.looseObject({}).nullable(),
  supported_parameters: z.array(z.string()),
  default_parameters: z.looseObject({}).nullable(),
  expiration_date: date(),
  shutdown_date: about(z.string(), "The same date; absent without one.").exactOptional(),
  video: VideoOptions.exactOptional(),
  pricing_overrides: PriceChanges.exactOptional(),
  redirected_to: Redirect.exactOptional(),
  embedding: z.object({ dimensions: z.int().nullable(), max_inputs: z.int() }).exactOptional(),
  moderation: z.object({ max_inputs: z.int() }).exactOptional(),
  rerank: z.object({ max_documents: z.int() }).exactOptional(),
  speech: z.object({ voices: z.array(z.string()), formats: z.array(z.string()), max_characters: z.int() })
    .exactOptional(),
  transcription: z.object({ translates: z.boolean() }).exactOptional(),
}).meta({ id: "Model" });

/** A list in the default style. */
export const ModelList = z.object({ object: z.literal("list"), data: z.array(Model) }).meta({ id: "ModelList" });

const support = () => z.object({ supported: z.boolean() });

const ModelCapabilities = written<Capabilities>()(z.object({
  batch: support(),
  citations: support(),
  code_execution: support(),
  context_management: z.object({
    supported: z.boolean(),
    clear_thinking_20251015: support(),
    clear_tool_uses_20250919: support(),
    compact_20260112: support(),
  }),
  effort: z.object({
    supported: z.boolean(),
    low: support(),
    medium: support(),
    high: support(),
    xhigh: support(),
    max: support(),
  }),
  image_input: support(),
  pdf_input: support(),
  server_tools: z.object({ supported: z.boolean(), code_execution: support(), web_search: support() }),
  structured_outputs: support(),
  thinking: z.object({
    supported: z.boolean(),
    types: z.object({ adaptive: support(), between_tools: support(), disabled: support(), enabled: support() }),
  }),
})).meta({ id: "ModelCapabilities" });

/** A model in the message style. */
export const MessageModel = z.object({
  type: z.literal("model"),
  id: z.string(),
  display_name: z.string(),
  created_at: about(z.iso.datetime(), "An instant of ISO 8601."),
  max_input_tokens: z.int().nullable(),
  max_tokens: z.int().nullable(),
  capabilities: ModelCapabilities,
  lifecycle: z.enum(["active", "deprecated"]),
  line: about(z.string().nullable(), "The family of a Claude model."),
  deprecated_at: z.null(),
  retires_at: z.iso.datetime().nullable(),
  owned_by: z.string(),
  canonical_slug: z.string(),
  description: z.string(),
  context_length: tokens(),
  architecture: Architecture,
  pricing: Pricing,
  top_provider: TopProvider,
  supported_parameters: z.array(z.string()),
  expiration_date: date(),
  pricing_overrides: PriceChanges.exactOptional(),
  redirected_to: Redirect.exactOptional(),
}).meta({ id: "MessageModel" });

/** A list in the message style. */
export const MessageModelList = z.object({
  data: z.array(MessageModel),
  has_more: z.boolean(),
  first_id: z.string().nullable(),
  last_id: z.string().nullable(),
}).meta({ id: "MessageModelList" });

/** A model in the content style. */
export const ContentModel = z.object({
  name: about(z.string(), "`models/` and the id."),
  version: z.string(),
  displayName: z.string(),
  description: z.string(),
  inputTokenLimit: tokens(),
  outputTokenLimit: tokens(),
  contextLength: tokens(),
  supportedGenerationMethods: z.array(z.string()),
  ownedBy: z.string(),
  canonicalSlug: z.string(),
  architecture: Architecture,
  pricing: Pricing,
  topProvider: TopProvider,
  supportedParameters: z.array(z.string()),
  expirationDate: date(),
  thinking: z.boolean(),
  pricingOverrides: PriceChanges.exactOptional(),
  redirectedTo: Redirect.exactOptional(),
  temperature: z.number().exactOptional(),
  topP: z.number().exactOptional(),
  topK: z.number().exactOptional(),
}).meta({ id: "ContentModel" });

/** A list in the content style. */
export const ContentModelList = z.object({
  models: z.array(ContentModel),
  nextPageToken: about(z.string(), "Absent on the last page.").exactOptional(),
}).meta({ id: "ContentModelList" });

/** The video models in the style of OpenRouter's clients. */
export const VideoModelList = z.object({
  data: z.array(z.object({
    id: z.string(),
    canonical_slug: z.string(),
    name: z.string(),
    description: z.string(),
    created: seconds(),
    supported_resolutions: z.array(z.string()),
    supported_aspect_ratios: z.array(z.string()),
    supported_sizes: z.null(),
    supported_durations: about(z.array(z.int()).nullable(), "Seconds; null for a long range."),
    supported_frame_images: z.array(z.enum(["first_frame", "last_frame"])),
    generate_audio: z.boolean(),
    seed: z.null(),
    creativity: z.null(),
    upscale_factor: z.null(),
    pricing_skus: z.record(z.string(), usd("The price of a second")),
    allowed_passthrough_parameters: z.array(z.string()),
  })),
}).meta({ id: "VideoModelList" });
