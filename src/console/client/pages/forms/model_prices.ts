import type { PriceName } from "../../../../money/billing/prices/tariff.ts";
import { PER_MILLION } from "../../../../platform/names/per_million.ts";
import type { JsonFields } from "../configuration/merge_patch.ts";

/** What a model of the form makes or does. */
export const MODEL_KINDS = [
  "text",
  "image",
  "video",
  "embedding",
  "speech",
  "transcription",
  "rerank",
  "moderation",
] as const;

/** One of {@linkcode MODEL_KINDS}. */
export type ModelKind = typeof MODEL_KINDS[number];

/** The unit in which vendors state a price, and in which it is typed. */
type PriceUnit = "million" | "thousand" | "minute" | "one";

/** The prices that the form of each kind has, each in the unit of the vendors' price lists. Others are JSON. */
const PRICES = {
  text: { prompt: "million", completion: "million", input_cache_read: "million" },
  image: { per_image: "one", prompt: "million", image_input: "million", image_output: "million" },
  video: {},
  embedding: { prompt: "million" },
  speech: { character: "million", prompt: "million", audio_output: "million" },
  transcription: { audio_second: "minute", audio: "million", prompt: "million", completion: "million" },
  rerank: { search_unit: "thousand", prompt: "million" },
  moderation: { prompt: "million" },
} as const satisfies Readonly<Record<ModelKind, Readonly<Partial<Record<PriceName, PriceUnit>>>>>;

/** The name of a price of the form. */
export type ModelPrice = { [K in ModelKind]: keyof (typeof PRICES)[K] }[ModelKind] & PriceName;

/** Prices as they are typed. */
export type TypedPrices = Readonly<Partial<Record<ModelPrice, string>>>;

/** The prices of a text or an embedding that a model is incomplete without. Of other kinds, any one is enough. */
const REQUIRED: ReadonlySet<ModelPrice> = new Set<ModelPrice>(["prompt", "completion"]);

/** A price of the form. */
export interface ModelPriceField {
  readonly name: ModelPrice;
  readonly text: string;
  readonly isRequired: boolean;
}

/** The prices of a kind with what is typed. */
export function modelPriceFields(kind: ModelKind, typed: TypedPrices): ModelPriceField[] {
  const names = namesOf(kind);
  const hasAny = names.some((name) => textOf(typed, name) !== "");
  const isTokenPriced = kind === "text" || kind === "embedding";
  return names.map((name) => ({
    name,
    text: typed[name] ?? "",
    isRequired: isTokenPriced ? REQUIRED.has(name) : !hasAny,
  }));
}

/** Typed prices as a model has them. Empty ones are left out. */
export function pricingOf(kind: ModelKind, typed: TypedPrices): JsonFields {
  const units: Readonly<Partial<Record<ModelPrice, PriceUnit>>> = PRICES[kind];
  return Object.fromEntries(
    namesOf(kind).flatMap((name) => {
      const [text, unit] = [textOf(typed, name), units[name]];
      if (text === "") return [];
      if (unit === "million") return [[name + PER_MILLION, text]];
      return [[name, unit === "minute" ? dividedBy(text, 60n) : unit === "thousand" ? dividedBy(text, 1_000n) : text]];
    }),
  );
}

/** Digits after the point that a price has at most. Source: `readRate` of `src/platform/lib/basics/money.ts`. */
const DIGITS = 18;

/** A decimal divided by a number, to the nearest that a price can be. Other text stays, so that it is refused. */
export function dividedBy(text: string, divisor: bigint): string {
  const [, whole, fraction = ""] = /^(\d+)(?:\.(\d+))?$/.exec(text) ?? [];
  if (whole === undefined || fraction.length > DIGITS) return text;
  const units = BigInt(whole + fraction.padEnd(DIGITS, "0"));
  const digits = String((units + divisor / 2n) / divisor).padStart(DIGITS + 1, "0");
  const after = digits.slice(-DIGITS).replace(/0+$/, "");
  return after === "" ? digits.slice(0, -DIGITS) : `${digits.slice(0, -DIGITS)}.${after}`;
}

function namesOf(kind: ModelKind): ModelPrice[] {
  return MODEL_PRICES.filter((name) => Object.hasOwn(PRICES[kind], name));
}

/** In the order of the forms: what is billed by the piece first. */
const MODEL_PRICES: readonly ModelPrice[] = [
  "per_image",
  "character",
  "audio_second",
  "search_unit",
  "prompt",
  "completion",
  "input_cache_read",
  "image_input",
  "image_output",
  "audio",
  "audio_output",
];

function textOf(typed: TypedPrices, name: ModelPrice): string {
  return typed[name]?.trim() ?? "";
}
