import type { JsonFields } from "../configuration/merge_patch.ts";

/** What a model of the form makes. Models of other kinds have more settings, which are written as JSON. */
export type MadeKind = "text" | "embedding";

/** The fields of the form of a model, as they are typed. */
export interface ModelFields {
  readonly provider: string;
  /** The vendor's name of the model. */
  readonly vendorModel: string;
  /** Empty for {@linkcode defaultId}. */
  readonly id: string;
  readonly kind: MadeKind;
  readonly takesImages: boolean;
  /** Tokens. */
  readonly context: string;
  /** Tokens. */
  readonly maxOutput: string;
  readonly isFree: boolean;
  /** USD per million tokens. */
  readonly input: string;
  readonly output: string;
  readonly cacheRead: string;
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

/** The model as the store keeps it. Fields that are empty are left out. */
export function modelEntry(fields: ModelFields): JsonFields {
  const { provider, kind, takesImages, isFree, input, output, cacheRead } = fields;
  const vendorModel = fields.vendorModel.trim();
  const isText = kind === "text";
  const isNamedSo = idOf(fields).slice(idOf(fields).indexOf("/") + 1) === vendorModel;
  const maxOutput = isText ? wholeIn(fields.maxOutput) : null;
  const context = wholeIn(fields.context);
  return {
    ...context !== null && { context_length: context },
    ...maxOutput !== null && { top_provider: { max_completion_tokens: maxOutput } },
    ...isText && { architecture: { input_modalities: takesImages ? ["text", "image"] : ["text"] } },
    ...!isText && { embedding: {} },
    pricing: isFree ? "free" : pricingOf(isText ? { input, output, cacheRead } : { input, output: "", cacheRead: "" }),
    serves: [{ provider, ...!isNamedSo && { model: vendorModel } }],
  };
}

function pricingOf({ input, output, cacheRead }: Pick<ModelFields, "input" | "output" | "cacheRead">): JsonFields {
  return {
    ...input.trim() !== "" && { prompt_per_million: input.trim() },
    ...output.trim() !== "" && { completion_per_million: output.trim() },
    ...cacheRead.trim() !== "" && { input_cache_read_per_million: cacheRead.trim() },
  };
}

/** A text that is no whole number stays as it is, so that the gateway names the field. */
function wholeIn(text: string): number | string | null {
  const plain = text.replaceAll(/[\s,_]/g, "");
  if (plain === "") return null;
  return /^\d+$/.test(plain) ? Number(plain) : text.trim();
}
