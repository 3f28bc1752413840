import * as z from "zod";
import { factsSchema } from "../../conversation/models/stated_facts.ts";
import { isDate } from "../../platform/lib/text/iso_date.ts";
import { section, setting } from "../../platform/lib/settings/setting.ts";
import { boolean, distinct, duration, number, text, wholeNumber } from "../../platform/lib/settings/settings.ts";
import { PROMPT_CACHING_FIELD } from "../../money/limits/access_settings.ts";
import { capabilitySections } from "./sections/capability_schemas.ts";
import { imageSection, videoSection } from "./sections/media_schemas.ts";
import { isModelId, MAX_NAME_LENGTH } from "./model_name.ts";
import { moment, writtenPricing, writtenTiers } from "./prices/price_schemas.ts";
import { price } from "./prices/price_settings.ts";

const ID_EXPECTATION = '"<provider>/<model_name>" of letters, digits and . _ -';
/** The maximum number of fallbacks of a model. */
export const MAX_FALLBACKS = 8;

/** A day. No vendor keeps a prompt longer without a request that names the lifetime. */
const MAX_WARM_SECONDS = 86_400;

const modelId = z.string(ID_EXPECTATION).refine(isModelId, ID_EXPECTATION);
const modality = z.enum(["text", "image", "file", "audio", "video", "embeddings", "scores", "transcription"]);
const tokens = () => wholeNumber(0, 1_000_000_000, "tokens");
const anything = () => z.record(z.string(), z.unknown()).nullable().default(null);

const serving = section({
  provider: setting(text(1, 64), { text: "The name of a provider", example: "openai" }),
  model: setting(text(1, 256).optional(), {
    text: "The vendor's name of the model",
    example: "gpt-6-sol-2026-09",
    otherwise: "the id after the slash",
  }),
  weight: setting(number(0, 1_000_000), {
    default: 1,
    text: "Its share of unpinned requests; 0 is for pins and fallbacks only",
    example: 80,
    unit: "share",
  }),
});

const BY_SECTIONS = "by the sections `image`, `video` and others";

const architecture = section({
  modality: setting(text(1, 100).optional(), {
    text: "Input and output in short",
    example: "text+image->text",
    otherwise: "from the two lists below",
  }),
  input_modalities: setting(z.array(modality).min(1).optional(), {
    text: "What it reads",
    example: ["text", "image"],
    otherwise: BY_SECTIONS,
  }),
  output_modalities: setting(z.array(modality).min(1).optional(), {
    text: "What it makes",
    example: ["text"],
    otherwise: BY_SECTIONS,
  }),
  tokenizer: setting(text(1, 100), { default: "Other", text: "Its tokenizer, for catalogs", example: "GPT" }),
  instruct_type: setting(text(1, 100).nullable().default(null), {
    text: "Its prompt template, for catalogs",
    example: "chatml",
    otherwise: "none",
  }),
});

const topProvider = section({
  context_length: setting(tokens().optional(), {
    text: "The most tokens of input and output at the first provider",
    example: 400000,
    otherwise: "that of the model",
  }),
  max_completion_tokens: setting(tokens(), {
    default: 0,
    text: "The most output tokens; 0 is unknown",
    example: 128000,
  }),
  is_moderated: setting(boolean(), { default: false, text: "Whether the vendor moderates, for catalogs" }),
});

/** The settings of a model, without the defaults that follow from others. */
export const writtenModel = section({
  id: setting(modelId, {
    text: "The id; with a star at its end, all models that the provider lists",
    example: "openai/gpt-6-sol",
  }),
  canonical_slug: setting(modelId.optional(), {
    text: "A name that never changes",
    example: "openai/gpt-6-sol-2026-09",
    otherwise: "the id",
  }),
  name: setting(text(1, 200).optional(), {
    text: "The name that catalogs show",
    example: "GPT-6 Sol",
    otherwise: "the id after the slash",
  }),
  description: setting(text(0, 4000), {
    default: "",
    text: "A description for catalogs",
    example: "Makes and edits images.",
  }),
  created: setting(z.preprocess(unixSecondsIn, wholeSeconds()), {
    default: 0,
    text: "When the model was published: a date, or Unix seconds",
    example: "2026-09-22",
  }),
  owned_by: setting(text(1, 100).optional(), {
    text: "The author that catalogs show",
    example: "openai",
    otherwise: "the id before the slash",
  }),
  context_length: setting(tokens(), {
    default: 0,
    text: "The most tokens of input and output; 0 is unknown",
    example: 400000,
  }),
  architecture: architecture.prefault({}),
  pricing: writtenPricing.prefault({}),
  pricing_tiers: setting(writtenTiers, {
    default: {},
    text: "Prices of other [service tiers](#service-tiers), with the fields of `pricing`",
    example: { flex: { prompt: "0.000001" } },
  }),
  own_searches: setting(wholeNumber(0, 100, "searches"), {
    default: 0,
    text: "The searches that it may make by itself in a request without a search tool; they are reserved",
    example: 3,
  }),
  top_provider: topProvider.prefault({}),
  per_request_limits: setting(anything(), {
    text: "Shown in catalogs as it is",
    example: { prompt_tokens: 100000 },
    otherwise: "none",
  }),
  supported_parameters: setting(z.array(text(1, 100)), {
    default: [],
    text: "Parameters that catalogs show",
    example: ["temperature", "tools"],
  }),
  default_parameters: setting(anything(), {
    text: "Shown in catalogs as it is",
    example: { temperature: 1 },
    otherwise: "none",
  }),
  facts: factsSchema.optional(),
  expiration_date: setting(
    z.string().refine(isDate, 'a date such as "2027-01-31", or null').nullable().default(null),
    { text: "When the vendor stops serving it, for catalogs", example: "2027-06-30", otherwise: "none" },
  ),
  redirected_to: section({
    model: setting(text(1, 256), {
      text: "The vendor's name of the model that it answers with from a date on: [redirects](#redirects)",
      example: "gpt-6.2-sol",
    }),
    from: setting(moment, { text: "The date from which the vendor does so", example: "2026-12-01" }),
  }).nullable().default(null),
  text: setting(boolean().optional(), {
    text: "Whether the text endpoints serve it",
    otherwise: "true if it makes text and has no section such as `image`",
  }),
  image: imageSection().optional(),
  video: videoSection(price).optional(),
  ...capabilitySections(),
  serves: z.array(serving).min(1, "a list of at least one provider")
    .refine((serves) => serves.some((each) => each.weight > 0), "at least one weight above 0")
    .superRefine(refuseRepeatedProvider),
  prompt_caching: setting(PROMPT_CACHING_FIELD.optional(), {
    text: "Whether the gateway uses vendors' [prompt caches](prompt-caching.md) by itself",
    example: "off",
    otherwise: "auto",
  }),
  prefer_warm: setting(
    z.preprocess((value) => value === "off" ? 0 : value, duration(0, MAX_WARM_SECONDS)).optional(),
    {
      as: "preferWarmMs",
      text: "How long a conversation stays at the provider that read it last; `off`: each request is split by weight",
      example: "off",
      otherwise: "5m; off if a weight is not 1",
    },
  ),
  fallbacks: setting(
    distinct(text(1, MAX_NAME_LENGTH), 0)
      .refine((names) => names.length <= MAX_FALLBACKS, `at most ${MAX_FALLBACKS} models`),
    {
      default: [],
      text: "Models to try after all of its providers failed",
      example: ["openai/gpt-5.5"],
    },
  ),
});

/** The settings of a model as they were read. */
export type WrittenModel = z.output<typeof writtenModel>;

function refuseRepeatedProvider(serves: { provider: string }[], context: z.RefinementCtx): void {
  const seen = new Set<string>();
  serves.forEach(({ provider }, index) => {
    if (seen.has(provider)) {
      context.addIssue({
        code: "custom",
        path: [index, "provider"],
        message: "each provider once, so that a pin names one",
      });
    }
    seen.add(provider);
  });
}

function wholeSeconds(): z.ZodType<number> {
  const expectation = 'Unix seconds, or a date such as "2026-09-22"';
  return z.int(expectation).min(0, expectation).max(253_402_300_799, expectation);
}

function unixSecondsIn(value: unknown): unknown {
  if (typeof value !== "string") return value;
  if (/^\d{1,12}$/.test(value)) return Number(value);
  return isDate(value) ? Date.parse(value) / 1000 : value;
}
