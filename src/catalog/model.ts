import * as z from "zod";
import type { ChargeKind, Tariff } from "../billing/tariff.ts";
import type { ListedFacts, ModelFacts } from "../conversation/model_facts.ts";
import { PROMPT_CACHING_FIELD } from "../limits/access_settings.ts";
import type { PromptCachingSetting } from "../limits/access_limits.ts";
import { factsSchema } from "../conversation/stated_facts.ts";
import type { ProviderHalt } from "../lib/provider_halt.ts";
import { isDate } from "../lib/iso_date.ts";
import { section, setting } from "../lib/setting.ts";
import { boolean, distinct, duration, number, type ReadContext, text, wholeNumber } from "../lib/settings.ts";
import { type CapabilitySections, capabilitySections } from "./capability_schemas.ts";
import { SECTION_NAMES } from "./capability_sections.ts";
import { isModelId, MAX_NAME_LENGTH } from "./model_name.ts";
import { type ImageSection, imageSection, videoSection } from "./media_schemas.ts";
import type { VideoSection } from "./media_sections.ts";
import { hasAnyPrice, type ModelPrices, pricesAt, type Pricing } from "./price_list.ts";
import { moment, priceListOf, refuseUnchargeable, writtenPricing, writtenTiers } from "./price_schemas.ts";
import { price } from "./price_settings.ts";

/** A type of input or output. */
export type Modality = "text" | "image" | "file" | "audio" | "video" | "embeddings" | "scores" | "transcription";

/** The inputs and outputs of a model. Source: docs/api/models.md#default-style. */
export interface Architecture {
  /** Inputs and outputs as one text: `text+image->text`. Default: derived from the two lists. */
  readonly modality: string;
  /** Default: text, and image if the model accepts images. */
  readonly inputModalities: readonly Modality[];
  /** Default: text for a text model, image or video for a model with that section. */
  readonly outputModalities: readonly Modality[];
  /** The family of its tokenizer. Default: `Other`. */
  readonly tokenizer: string;
  /** Default: null. */
  readonly instructType: string | null;
}

/** Limits of the best provider. Source: docs/api/models.md#default-style. */
export interface TopProvider {
  /** Tokens. Default: the model's. */
  readonly contextLength: number;
  /** In tokens; 0 if unknown, which is the default. */
  readonly maxCompletionTokens: number;
  /** Default: false. */
  readonly isModerated: boolean;
}

/** One configured provider that serves a model. */
export interface Serving {
  /** The provider's name, as in pins. */
  readonly provider: string;
  /** The vendor's name of the model. Default: the id without its first part. */
  readonly model: string;
  /**
   * The share of unpinned requests relative to the other providers; 0 receives pinned requests and fallbacks only.
   * Default: 1.
   */
  readonly weight: number;
  /**
   * The same at each credential of the provider: its id (`openai#team-a`) as `provider`, and its weight among the
   * provider's credentials. Absent for a provider without named credentials.
   */
  readonly credentials?: readonly Serving[];
  /** Why the provider gets no new requests. Absent: it gets them. */
  readonly halt?: ProviderHalt;
}

/** Another model of the vendor that answers in the place of a model. */
export interface Redirect {
  /** The vendor's name of the model that answers, at a provider of the redirected model. */
  readonly to: string;
  /** Unix milliseconds. It answers requests that began then or later. */
  readonly from: number;
  /** The id of the model that answers; null if the catalog has none. Set by the catalog. */
  readonly model: string | null;
}

/** A model of the catalog. Source of the public fields: docs/api/models.md#default-style. */
export interface Model extends CapabilitySections {
  /** `<provider>/<model_name>`. */
  readonly id: string;
  /** Never changes. Default: the id. */
  readonly canonicalSlug: string;
  /** Default: the id without its first part. */
  readonly name: string;
  /** Default: empty. */
  readonly description: string;
  /** Unix seconds. Default: 0. */
  readonly created: number;
  /** Default: the first part of the id. */
  readonly ownedBy: string;
  /** In tokens; 0 if unknown, which is the default. */
  readonly contextLength: number;
  /** Its inputs and outputs. */
  readonly architecture: Architecture;
  /** The prices of a small request at a moment. Default: empty, so that everything is free. */
  readonly pricing: Pricing;
  /** The moment of `pricing` in Unix milliseconds. Default: before the first date in `prices`. */
  readonly pricedAt: number;
  /** The prices of `pricing` in chargeable form. */
  readonly tariff: Tariff;
  /** All prices, with the conditions under which they apply. */
  readonly prices: ModelPrices;
  /** Whether the operator says that it is free, by `pricing: free`. Default: false. */
  readonly isFree: boolean;
  /** The searches that the model may make by itself in one request, without a search tool in it. Default: 0. */
  readonly ownSearches: number;
  /** Limits of the provider that serves best. */
  readonly topProvider: TopProvider;
  /** Default: null. */
  readonly perRequestLimits: Readonly<Record<string, unknown>> | null;
  /** Default: none. */
  readonly supportedParameters: readonly string[];
  /** Default: null. */
  readonly defaultParameters: Readonly<Record<string, unknown>> | null;
  /** What an operator states about what the model takes and refuses, before the built-in facts. Default: none. */
  readonly facts?: Partial<ModelFacts>;
  /** What the lists of its providers state, before the built-in facts. Absent: nothing. */
  readonly listedFacts?: ListedFacts;
  /** A date; null if none is set, which is the default. */
  readonly expirationDate: string | null;
  /** Null if the vendor answers with this model, which is the default. */
  readonly redirect: Redirect | null;
  /** Whether the text endpoints serve it. Default: whether its output is text and no section is given. */
  readonly text: boolean;
  /** The properties for the image endpoints; null if they do not serve it. */
  readonly image: ImageSection | null;
  /** The properties for the video endpoint; null if it does not serve it. */
  readonly video: VideoSection | null;
  /** At least one, each provider once, not all of weight 0. */
  readonly serves: readonly Serving[];
  /** Whether the gateway makes use of vendors' prompt caches by itself. Default: `auto`. */
  readonly promptCaching?: PromptCachingSetting;
  /**
   * How long a conversation stays at the provider that has read it last, in milliseconds; 0 for not at all. Default:
   * five minutes, or 0 if a provider or a credential has another weight than 1.
   */
  readonly preferWarmMs?: number;
  /** Ids or aliases of the models to try in order if all of its providers failed. Default: none. */
  readonly fallbacks: readonly string[];
}

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

const written = section({
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

type Written = z.output<typeof written>;

/** The schema of a model. */
export const modelSchema: z.ZodType<Model> = written
  .superRefine((model, context) => {
    if (model.text === false && !hasSection(model)) {
      context.addIssue({ code: "custom", path: ["text"], message: "true, or a section such as image or embedding" });
    }
    refuseUnchargeable(model, endpointsOf(model), context);
  })
  .transform(modelOf);

/**
 * Reads a model of the configuration or the built-in list and applies all defaults.
 *
 * @param context How problems are worded; see {@linkcode ReadContext}.
 * @throws {z.ZodError} With the path of every invalid field.
 */
export function readModel(value: unknown, context?: ReadContext): Model {
  // Read apart, so that problems of a section of prices keep their places.
  if (!isSaidFree(value)) return modelSchema.parse(value, context);
  const { pricing: _, ...others } = value;
  return { ...modelSchema.parse(others, context), isFree: true };
}

function isSaidFree(value: unknown): value is { readonly pricing: "free" } {
  return typeof value === "object" && value !== null && "pricing" in value && value.pricing === "free";
}

/** Whether the operator has said what a model costs: with at least one price, or that it is free. */
export function hasStatedPrice({ isFree, prices, video }: Model): boolean {
  return isFree || video !== null || hasAnyPrice(prices);
}

function modelOf(model: Written): Model {
  const slash = model.id.indexOf("/");
  const [provider, ownName] = [model.id.slice(0, slash), model.id.slice(slash + 1)];
  const prices: ModelPrices = {
    ...priceListOf(model.pricing),
    tiers: Object.fromEntries(Object.entries(model.pricingTiers).map(([tier, own]) => [tier, priceListOf(own)])),
  };
  const { pricing, tariff } = pricesAt(prices, -Infinity);
  const { pricing: _, pricingTiers: _tiers, redirectedTo, ...given } = model;
  return {
    ...given,
    canonicalSlug: model.canonicalSlug ?? model.id,
    name: model.name ?? ownName,
    ownedBy: model.ownedBy ?? provider,
    architecture: architectureOf(model),
    pricing,
    pricedAt: -Infinity,
    tariff,
    prices,
    isFree: false,
    topProvider: { ...model.topProvider, contextLength: model.topProvider.contextLength ?? model.contextLength },
    redirect: redirectedTo && { to: redirectedTo.model, from: redirectedTo.from, model: null },
    text: model.text ?? isTextByItself(model),
    image: model.image ?? null,
    video: model.video ?? null,
    serves: model.serves.map((each) => ({ ...each, model: each.model ?? ownName })),
  };
}

function architectureOf(model: Written): Architecture {
  const { inputModalities = inputsOf(model), outputModalities = outputsOf(model), ...others } = model.architecture;
  const { modality = `${inputModalities.join("+")}->${outputModalities.join("+")}` } = others;
  return { ...others, modality, inputModalities, outputModalities };
}

function inputsOf({ image, video, transcription }: Written): Modality[] {
  if (transcription) return ["audio"];
  const takesImages = image
    ? image.edits || image.series !== "default"
    : video?.modes.some((mode) => mode !== "text2video");
  const mixed = video?.modes.includes("mixref2video") ? video.references : { audio: 0, video: 0 };
  return [
    "text",
    ...(takesImages ? ["image" as const] : []),
    ...(mixed.audio > 0 ? ["audio" as const] : []),
    ...(mixed.video > 0 ? ["video" as const] : []),
  ];
}

function outputsOf({ image, video, embedding, moderation, rerank, speech, transcription }: Written): Modality[] {
  if (image) return image.series === "multimodal" ? ["text", "image"] : ["image"];
  if (video) return ["video"];
  if (speech) return ["audio"];
  // Not text, so that it is not taken for a model of conversations.
  if (transcription) return ["transcription"];
  if (moderation || rerank) return ["scores"];
  return embedding ? ["embeddings"] : ["text"];
}

/** Whether the model has a section, so that it is not one for texts alone. */
function hasSection(model: Written): boolean {
  return Boolean(model.image || model.video || SECTION_NAMES.some((name) => model[name]));
}

function isTextByItself(model: Written): boolean {
  if (hasSection(model)) return false;
  return (model.architecture.outputModalities ?? ["text"]).includes("text");
}

function endpointsOf(model: Written): ChargeKind[] {
  const isText = model.text ?? isTextByItself(model);
  const talksContent = isText || model.image?.series === "multimodal";
  return [
    ...talksContent ? ["text" as const] : [],
    ...isText ? ["cache" as const] : [],
    ...model.image ? ["image" as const] : [],
    ...model.video ? ["video" as const] : [],
    ...SECTION_NAMES.filter((name) => model[name]),
  ];
}

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
