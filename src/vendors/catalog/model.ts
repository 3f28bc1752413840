import type * as z from "zod";
import type { ChargeKind, Tariff } from "../../money/billing/prices/tariff.ts";
import type { ListedFacts } from "../../conversation/facts/model_facts.ts";
import type { ProviderHalt } from "../../platform/names/provider_halt.ts";
import type { ReadContext } from "../../platform/lib/settings/settings.ts";
import { SECTION_NAMES } from "./sections/capability_sections.ts";
import type { ImageSection } from "./sections/media_schemas.ts";
import type { VideoSection } from "./sections/media_sections.ts";
import { type WrittenModel, writtenModel } from "./model_fields.ts";
import { hasAnyPrice, type ModelPrices, pricesAt, type Pricing } from "./prices/price_list.ts";
import { priceListOf, refuseUnchargeable } from "./prices/price_schemas.ts";

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

/** The settings of a model from which others follow if they are left out, or that have another form. */
type Completed =
  | "canonicalSlug"
  | "name"
  | "ownedBy"
  | "architecture"
  | "pricing"
  | "pricingTiers"
  | "topProvider"
  | "redirectedTo"
  | "text"
  | "image"
  | "video"
  | "serves";

/** A model of the catalog. Source of the public fields: docs/api/models.md#default-style. */
export interface Model extends Omit<WrittenModel, Completed> {
  /** Never changes. Default: the id. */
  readonly canonicalSlug: string;
  /** Default: the id without its first part. */
  readonly name: string;
  /** Default: the first part of the id. */
  readonly ownedBy: string;
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
  /** Limits of the provider that serves best. */
  readonly topProvider: TopProvider;
  /** What the lists of its providers state, before the built-in facts. Absent: nothing. */
  readonly listedFacts?: ListedFacts;
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
}

/** The schema of a model. */
export const modelSchema: z.ZodType<Model> = writtenModel
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

function modelOf(model: WrittenModel): Model {
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

function architectureOf(model: WrittenModel): Architecture {
  const { inputModalities = inputsOf(model), outputModalities = outputsOf(model), ...others } = model.architecture;
  const { modality = `${inputModalities.join("+")}->${outputModalities.join("+")}` } = others;
  return { ...others, modality, inputModalities, outputModalities };
}

function inputsOf({ image, video, transcription }: WrittenModel): Modality[] {
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

function outputsOf({ image, video, embedding, moderation, rerank, speech, transcription }: WrittenModel): Modality[] {
  if (image) return image.series === "multimodal" ? ["text", "image"] : ["image"];
  if (video) return ["video"];
  if (speech) return ["audio"];
  // Not text, so that it is not taken for a model of conversations.
  if (transcription) return ["transcription"];
  if (moderation || rerank) return ["scores"];
  return embedding ? ["embeddings"] : ["text"];
}

/** Whether the model has a section, so that it is not one for texts alone. */
function hasSection(model: WrittenModel): boolean {
  return Boolean(model.image || model.video || SECTION_NAMES.some((name) => model[name]));
}

function isTextByItself(model: WrittenModel): boolean {
  if (hasSection(model)) return false;
  return (model.architecture.outputModalities ?? ["text"]).includes("text");
}

function endpointsOf(model: WrittenModel): ChargeKind[] {
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
