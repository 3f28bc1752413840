import * as z from "zod";
import type { ChargeKind, Tariff } from "../billing/tariff.ts";
import type { ListedFacts, ModelFacts } from "../conversation/model_facts.ts";
import { PROMPT_CACHING_FIELD } from "../limits/access_settings.ts";
import type { PromptCachingSetting } from "../limits/access_limits.ts";
import { factsSchema } from "../conversation/stated_facts.ts";
import type { ProviderHalt } from "../lib/provider_halt.ts";
import { isDate } from "../lib/iso_date.ts";
import { boolean, distinct, duration, number, type ReadContext, text, wholeNumber } from "../lib/settings.ts";
import { type CapabilitySections, SECTION_NAMES, sectionsOf } from "./capability_sections.ts";
import { capabilitySections } from "./capability_schemas.ts";
import { isModelId, MAX_NAME_LENGTH } from "./model_name.ts";
import type { ImageSection, VideoSection } from "./media_sections.ts";
import { imageSection, videoSection } from "./media_schemas.ts";
import { hasAnyPrice, type ModelPrices, pricesAt, type Pricing } from "./price_list.ts";
import { moment, price, priceListOf, refuseUnchargeable, writtenPricing, writtenTiers } from "./price_schemas.ts";

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

const serving = z.strictObject({
  provider: text(1, 64),
  model: text(1, 256).optional(),
  weight: number(0, 1_000_000).default(1),
});

const written = z.strictObject({
  id: modelId,
  canonical_slug: modelId.optional(),
  name: text(1, 200).optional(),
  description: text(0, 4000).default(""),
  created: z.preprocess(unixSecondsIn, wholeSeconds()).default(0),
  owned_by: text(1, 100).optional(),
  context_length: tokens().default(0),
  architecture: z.strictObject({
    modality: text(1, 100).optional(),
    input_modalities: z.array(modality).min(1).optional(),
    output_modalities: z.array(modality).min(1).optional(),
    tokenizer: text(1, 100).default("Other"),
    instruct_type: text(1, 100).nullable().default(null),
  }).prefault({}),
  pricing: writtenPricing.prefault({}),
  pricing_tiers: writtenTiers.default({}),
  own_searches: wholeNumber(0, 100, "searches").default(0),
  top_provider: z.strictObject({
    context_length: tokens().optional(),
    max_completion_tokens: tokens().default(0),
    is_moderated: boolean().default(false),
  }).prefault({}),
  per_request_limits: anything(),
  supported_parameters: z.array(text(1, 100)).default([]),
  default_parameters: anything(),
  facts: factsSchema.optional(),
  expiration_date: z.string().refine(isDate, 'a date such as "2027-01-31", or null').nullable().default(null),
  redirected_to: z.strictObject({ model: text(1, 256), from: moment }).nullable().default(null),
  text: boolean().optional(),
  image: imageSection().optional(),
  video: videoSection(price).optional(),
  ...capabilitySections(),
  serves: z.array(serving).min(1, "a list of at least one provider")
    .refine((serves) => serves.some((each) => each.weight > 0), "at least one weight above 0")
    .superRefine(refuseRepeatedProvider),
  prompt_caching: PROMPT_CACHING_FIELD.optional(),
  prefer_warm: z.preprocess((value) => value === "off" ? 0 : value, duration(0, MAX_WARM_SECONDS)).optional(),
  fallbacks: distinct(text(1, MAX_NAME_LENGTH), 0)
    .refine((names) => names.length <= MAX_FALLBACKS, `at most ${MAX_FALLBACKS} models`).default([]),
});

type Written = z.infer<typeof written>;

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
    tiers: Object.fromEntries(Object.entries(model.pricing_tiers).map(([tier, own]) => [tier, priceListOf(own)])),
  };
  const { pricing, tariff } = pricesAt(prices, -Infinity);
  return {
    id: model.id,
    canonicalSlug: model.canonical_slug ?? model.id,
    name: model.name ?? ownName,
    description: model.description,
    created: model.created,
    ownedBy: model.owned_by ?? provider,
    contextLength: model.context_length,
    architecture: architectureOf(model),
    pricing,
    pricedAt: -Infinity,
    tariff,
    prices,
    isFree: false,
    ownSearches: model.own_searches,
    topProvider: {
      contextLength: model.top_provider.context_length ?? model.context_length,
      maxCompletionTokens: model.top_provider.max_completion_tokens,
      isModerated: model.top_provider.is_moderated,
    },
    perRequestLimits: model.per_request_limits,
    supportedParameters: model.supported_parameters,
    defaultParameters: model.default_parameters,
    ...model.facts && { facts: model.facts },
    expirationDate: model.expiration_date,
    redirect: redirectOf(model),
    text: model.text ?? isTextByItself(model),
    image: model.image ?? null,
    video: model.video ?? null,
    ...sectionsOf(model),
    serves: model.serves.map((each) => ({ ...each, model: each.model ?? ownName })),
    ...model.prompt_caching && { promptCaching: model.prompt_caching },
    ...model.prefer_warm !== undefined && { preferWarmMs: model.prefer_warm },
    fallbacks: model.fallbacks,
  };
}

function architectureOf(model: Written): Architecture {
  const { input_modalities, output_modalities, tokenizer, instruct_type } = model.architecture;
  const inputModalities = input_modalities ?? inputsOf(model);
  const outputModalities = output_modalities ?? outputsOf(model);
  return {
    modality: model.architecture.modality ?? `${inputModalities.join("+")}->${outputModalities.join("+")}`,
    inputModalities,
    outputModalities,
    tokenizer,
    instructType: instruct_type,
  };
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
  return (model.architecture.output_modalities ?? ["text"]).includes("text");
}

function redirectOf({ redirected_to: redirect }: Written): Redirect | null {
  return redirect && { to: redirect.model, from: redirect.from, model: null };
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
