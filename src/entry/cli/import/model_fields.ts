import { builtInFields } from "../../../vendors/catalog/built_in.ts";
import { SECTION_NAMES } from "../../../vendors/catalog/sections/capability_sections.ts";
import { hasVertexFormat } from "./cloud_providers.ts";
import type { Written } from "./imported_config.ts";
import { chargeKindsOf, type ModelUse, USE_WORDS, useOfMode, useOfName } from "../../../vendors/prices/model_use.ts";
import { type PricedUse, readPrices } from "../../../vendors/prices/litellm_prices.ts";
import { numberIn, type SourceMap } from "../../../vendors/prices/source_values.ts";
import { type ImportedVendor, isOwnServer, kindOf } from "./vendors.ts";

type BuiltIn = NonNullable<ReturnType<typeof builtInFields>>;

/** The sections of a model, by the names of the uses that they enable. */
const SECTIONS: readonly ModelUse[] = ["image", "video", ...SECTION_NAMES];
const FACTS = ["context_length", "architecture", "pricing", "pricing_tiers", "top_provider", "supported_parameters"];
/** Source: Gemini API reference, "Embeddings". */
const GOOGLE_INPUTS = 100;
/** Source: docs/api/audio.md#speech. */
const GOOGLE_SPEECH = { formats: ["wav", "pcm"] };

/** A model of a vendor. */
export interface VendorModel {
  readonly vendor: ImportedVendor;
  /** The vendor's name of the model, or of the model behind a deployment. */
  readonly model: string;
}

/** The built-in properties of a model; null if it is not built in. At clouds they are those at its maker. */
function builtInOf({ vendor, model }: VendorModel): BuiltIn | null {
  const name = model.replace(/^(google|anthropic)\//, "");
  if (vendor.kind === "vertex") {
    return builtInFields(name.startsWith("claude-") ? "anthropic" : "google", name.replace(/@.*$/, ""));
  }
  if (vendor.kind === "azure" && name.startsWith("claude-")) return builtInFields("anthropic", name);
  return vendor.family === undefined ? null : builtInFields(vendor.family, model);
}

/** What a model is for: by its mode in the source, its built-in section or its name. Null for another purpose. */
export function useOf(vendorModel: VendorModel, mode: string | null): ModelUse | null {
  if (mode !== null) return useOfMode(mode);
  const builtIn = builtInOf(vendorModel);
  if (builtIn !== null) return SECTIONS.find((name) => builtIn[name] !== undefined) ?? "text";
  const named = useOfName(vendorModel.model);
  return named === "text" ? vendorModel.vendor.defaultUse ?? named : named;
}

/** Why this gateway does not serve a model of a vendor for a use; null if it does. */
export function whyNotServed({ vendor, model }: VendorModel, use: ModelUse): string | null {
  const place = vendor.name;
  if (!vendor.uses.includes(use)) return `models for ${USE_WORDS[use]} are not served at ${place}`;
  if (vendor.kind === "vertex" && !hasVertexFormat(model)) {
    return "models of this publisher are not served at Vertex AI";
  }
  if (vendor.kind === "google" && use === "image" && !/gemini|nano-banana/.test(model)) {
    return "of Google's models for images, only Gemini is served";
  }
  if (vendor.name === "azure_ai" && use === "image" && !/gpt-image|dall-e/.test(model)) {
    return "of the models for images at Azure AI, only OpenAI's are served";
  }
  if (vendor.kind === "bedrock" && use === "embedding" && !/titan-embed|cohere/.test(model)) {
    return "of the models for embeddings at Bedrock, only those of Titan and Cohere are served";
  }
  if (use === "video" && builtInOf({ vendor, model })?.video === undefined) {
    return "the modes and lengths of its videos are not in the source; add it by hand";
  }
  return null;
}

/** Fields of a model in `models`, without its id and providers. */
export interface ModelFields {
  readonly fields: Record<string, Written>;
  /** Whether the model is free by intent, or has its prices in a section. */
  readonly isPriced: boolean;
  /** The prices of the source that are not carried. */
  readonly droppedPrices: readonly string[];
}

/**
 * The section of a model with its facts and prices: those of the source, else the built-in ones.
 *
 * @param facts The source's information on the model, in the fields of LiteLLM; empty if it has none.
 */
export function modelFields(vendorModel: VendorModel, use: ModelUse, facts: SourceMap): ModelFields {
  const builtIn = builtInOf(vendorModel);
  const section = sectionFor(vendorModel, use, builtIn, facts);
  const { pricing, overrides, tiers, dropped } = readPrices(facts, pricedUse(use, section));
  const context = numberIn(facts.max_input_tokens);
  const own: Record<string, Written> = pricing === null ? {} : {
    ...(context !== null && context > 0 && { context_length: context }),
    pricing: overrides.length === 0 ? pricing : { ...pricing, overrides },
    ...(Object.keys(tiers).length > 0 && { pricing_tiers: tiers }),
  };
  const fits = builtIn !== null && (use === "text" || builtIn[use] !== undefined);
  const fields = { ...(pricing === null && fits ? factsOf(builtIn) : own), ...section };
  const isFree = isOwnServer(vendorModel.vendor.kind) || (fits && builtIn.pricing === undefined);
  return { fields, isPriced: fields.pricing !== undefined || isFree, droppedPrices: dropped };
}

function factsOf(builtIn: BuiltIn): Record<string, Written> {
  return Object.fromEntries(
    FACTS.flatMap((name) => builtIn[name] === undefined ? [] : [[name, builtIn[name] as Written]]),
  );
}

function sectionFor(
  { vendor, model }: VendorModel,
  use: ModelUse,
  builtIn: BuiltIn | null,
  facts: SourceMap,
): Record<string, Written> {
  if (use === "text") return {};
  const known = builtIn?.[use];
  if (known !== undefined) return { [use]: known as Written };
  if (use === "image") return { image: imageSection(vendor, model, facts) };
  if (use === "speech" && (vendor.kind === "google" || vendor.kind === "vertex")) return { speech: GOOGLE_SPEECH };
  if (use !== "embedding") return { [use]: {} };
  const dimensions = numberIn(facts.output_vector_size);
  return {
    embedding: {
      ...(dimensions !== null && dimensions >= 1 && { dimensions: Math.floor(dimensions) }),
      ...(vendor.kind === "google" && { max_inputs: GOOGLE_INPUTS }),
    },
  };
}

function imageSection(vendor: ImportedVendor, model: string, facts: SourceMap): Written {
  if (vendor.kind === "google") return { series: "multimodal" };
  if (facts.mode === "image_edit") return { series: "reference", edits: true };
  return kindOf(vendor) === "openai" && /gpt-image/.test(model) ? { edits: true } : {};
}

function pricedUse(use: ModelUse, section: Record<string, Written>): PricedUse {
  const { image } = section;
  const answersInText = typeof image === "object" && image !== null && "series" in image &&
    image.series === "multimodal";
  return { use, kinds: chargeKindsOf(use, answersInText) };
}
