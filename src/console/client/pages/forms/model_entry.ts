import type { JsonFields } from "../configuration/merge_patch.ts";
import { type ModelKind, pricingOf, type TypedPrices } from "./model_prices.ts";
import { type SectionFields, sectionOf } from "./model_sections.ts";

/** The fields of the form of a model, as they are typed. */
export interface ModelFields extends SectionFields {
  readonly provider: string;
  /** The vendor's name of the model. */
  readonly vendorModel: string;
  /** Empty for {@linkcode defaultId}. */
  readonly id: string;
  readonly kind: ModelKind;
  readonly takesImages: boolean;
  /** Tokens. */
  readonly context: string;
  /** Tokens. */
  readonly maxOutput: string;
  readonly isFree: boolean;
  readonly prices: TypedPrices;
}

/** The id of a model if none is typed: `<provider>/<model>`, in the letters that ids have. */
export function defaultId({ provider, vendorModel }: Pick<ModelFields, "provider" | "vendorModel">): string {
  const name = vendorModel.trim().replace(/[^A-Za-z0-9@_~./:+-]+/g, "-").replace(/^[^A-Za-z0-9@_~]+/, "");
  if (name === "") return "";
  return name.startsWith(`${provider}/`) ? name : `${provider}/${name}`;
}

/** The id of the model of a form. */
export function idOf(fields: ModelFields): string {
  return fields.id.trim() === "" ? defaultId(fields) : fields.id.trim();
}

/** Whether a model of a kind has a context. */
export function hasContext(kind: ModelKind): boolean {
  return kind === "text" || kind === "embedding";
}

/** The model as the store keeps it. Fields that are empty are left out. */
export function modelEntry(fields: ModelFields): JsonFields {
  const { provider, kind, takesImages, isFree, prices } = fields;
  const vendorModel = fields.vendorModel.trim();
  const isText = kind === "text";
  const isNamedSo = idOf(fields).slice(idOf(fields).indexOf("/") + 1) === vendorModel;
  const maxOutput = isText ? wholeIn(fields.maxOutput) : null;
  const context = hasContext(kind) ? wholeIn(fields.context) : null;
  return {
    ...context !== null && { context_length: context },
    ...maxOutput !== null && { top_provider: { max_completion_tokens: maxOutput } },
    ...isText && { architecture: { input_modalities: takesImages ? ["text", "image"] : ["text"] } },
    ...sectionOf(kind, fields),
    // The prices of videos are in their section.
    ...kind !== "video" && { pricing: isFree ? "free" : pricingOf(kind, prices) },
    serves: [{ provider, ...!isNamedSo && { model: vendorModel } }],
  };
}

/** A text that is no whole number stays as it is, so that the gateway names the field. */
function wholeIn(text: string): number | string | null {
  const plain = text.replaceAll(/[\s,_]/g, "");
  if (plain === "") return null;
  return /^\d+$/.test(plain) ? Number(plain) : text.trim();
}
