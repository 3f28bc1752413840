import { dollars } from "../../format.ts";
import type { ListedModel } from "../../shapes.ts";

const MILLION = 1_000_000;

/** The price of a million tokens, from that of one; empty without a price. */
export function perMillionTokens(price: string | undefined): string {
  return price === undefined ? "" : dollars(Number(price) * MILLION);
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
