import { exactDollars } from "../../price_text.ts";
import type { ListedModel } from "../../shapes.ts";
import { TEXTS } from "../../texts.ts";

const MILLION = 1_000_000;

type Unit = keyof typeof TEXTS.models.units;

/** Prices of tokens. The others are of what there is little of in a request. */
const TOKEN_UNITS: ReadonlySet<string> = new Set<Unit>([
  "image_input",
  "image_output",
  "audio",
  "audio_output",
  "video_output",
  "character",
]);

/** The prices of a model beside those of its prompt and its text, as lines; without those of caches and searches. */
export function otherPrices(pricing: ListedModel["pricing"]): string[] {
  const lines = Object.keys(TEXTS.models.units).flatMap((unit) => {
    const price = Number(pricing[unit] ?? 0);
    if (price === 0) return [];
    const isOfMillion = TOKEN_UNITS.has(unit);
    return [TEXTS.models.units[unit as Unit](exactDollars(isOfMillion ? price * MILLION : price))];
  });
  const seconds = Object.entries(pricing).flatMap(([name, price]) =>
    name.startsWith("per_second_") ? [Number(price)] : []
  );
  if (seconds.length === 0) return lines;
  const [least, most] = [Math.min(...seconds), Math.max(...seconds)];
  const range = least === most ? exactDollars(least) : TEXTS.models.range(exactDollars(least), exactDollars(most));
  return [...lines, TEXTS.models.videoSecond(range)];
}

/**
 * The price keys of a charge that a model sets itself. The rest of a tariff follows these: the audio tokens of a model
 * that makes no audio cost as much as its text.
 *
 * @param rates The keys of its tariff.
 */
export function ownPriceKeys(pricing: ListedModel["pricing"], rates: readonly string[]): string[] {
  const hasSeconds = Object.keys(pricing).some((name) => name.startsWith("per_second_"));
  return rates.filter((key) =>
    key === "video_second" ? hasSeconds : key in pricing || key.replace(/_(5m|1h)$/, "") in pricing
  );
}

/** A decimal without zeros at its end. */
export function shortDecimal(text: string): string {
  return text.includes(".") ? text.replace(/\.?0+$/, "") : text;
}

/** Whether a text is in a name of a model, of its providers or of its outputs. Empty text is in all. */
export function matchesText(model: ListedModel, text: string): boolean {
  const { id, name, architecture, providers = [], aliases = [] } = model;
  const words = text.toLowerCase().split(/\s+/);
  const own = [
    id,
    name,
    ...architecture.output_modalities,
    ...providers.map(({ provider }) => provider),
    ...aliases,
  ].join(" ").toLowerCase();
  return words.every((word) => own.includes(word));
}

/** The share of unpinned requests that each provider gets, between 0 and 1. */
export function sharesOf(providers: NonNullable<ListedModel["providers"]>): number[] {
  const total = providers.reduce((sum, { weight }) => sum + weight, 0);
  return providers.map(({ weight }) => total === 0 ? 0 : weight / total);
}

/** A kind of video of a model that has a price of its own. */
export interface VideoVariant {
  readonly title: string;
  /** As the calculator of prices takes them. */
  readonly fields: { readonly resolution: string; readonly audio: boolean };
}

/** The kinds of videos of a model, by its prices. */
export function videoVariantsOf(pricing: ListedModel["pricing"]): VideoVariant[] {
  return Object.keys(pricing).flatMap((name) => {
    const [, resolution, sound] = /^per_second_(\w+?)(?:_(audio|silent))?$/.exec(name) ?? [];
    if (resolution === undefined) return [];
    const title = sound === undefined ? resolution : `${resolution}, ${sound}`;
    return [{ title, fields: { resolution, audio: sound === "audio" } }];
  });
}

/** A fact that holds for a model at a provider. */
export interface FactRow {
  /** The provider's name. */
  readonly provider: string;
  /** The vendor's name of the model. */
  readonly model: string;
  /** The name of the fact in the configuration. */
  readonly fact: string;
  /** As JSON. */
  readonly value: string;
  /** Where it comes from. */
  readonly source: string;
}

/** The facts that hold at each provider: of those with one name the last. */
export function factRowsOf(providers: NonNullable<ListedModel["providers"]>): FactRow[] {
  return providers.flatMap(({ provider, model, facts }) => {
    const rows = new Map<string, FactRow>();
    for (const layer of facts) {
      for (const [fact, value] of Object.entries(layer.facts)) {
        rows.set(fact, { provider, model, fact, value: JSON.stringify(value), source: layer.source });
      }
    }
    return [...rows.values()];
  });
}
