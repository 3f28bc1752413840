import { builtInEntries } from "../vendors/catalog/built_in.ts";
import { type Model, readModel } from "../vendors/catalog/model.ts";
import {
  discoveryPattern,
  isModelPattern,
  type ModelPattern,
  modelWith,
  readModelPattern,
} from "../vendors/catalog/model_pattern.ts";
import type { ProviderConfig } from "../vendors/upstreams/settings/provider_config.ts";
import type { Reader } from "./tree/problems.ts";

/** Reads an entry of `models`. Throws a zod error with the path of every bad field. */
export const readModelEntry: Reader<Model | ModelPattern> = (value, context) =>
  isModelPattern(value) ? readModelPattern(value, context) : readModel(value, context);

/** The models among the entries, each with its index. */
export function modelsIn(entries: readonly (Model | ModelPattern | null)[]): [number, Model][] {
  return entries.flatMap((entry, index) => entry === null || isPattern(entry) ? [] : [[index, entry]]);
}

/** A model with the fields of each pattern among the entries, with the index of the pattern. */
export function patternModelsIn(entries: readonly (Model | ModelPattern | null)[]): [number, Model][] {
  return entries.flatMap((entry, index) => entry !== null && isPattern(entry) ? [[index, modelWith(entry)]] : []);
}

/** The patterns of `discover` of the providers. */
export function discoveryPatternsOf(providers: Readonly<Record<string, ProviderConfig | null>>): ModelPattern[] {
  return Object.entries(providers).flatMap(([name, provider]) =>
    provider?.discover === undefined ? [] : [discoveryPattern(name, provider.discover)]
  );
}

/** Whether an entry of `models` stands for the models of a list. */
export function isPattern(entry: Model | ModelPattern): entry is ModelPattern {
  return "refreshMs" in entry;
}

/**
 * The built-in models that no other model replaces.
 *
 * @param others The ids of the other models.
 */
export function builtInIdsBeside(others: ReadonlySet<unknown>, providers: readonly string[]): string[] {
  const ids = builtInEntries(new Set(providers)).map(({ id }) => String(id));
  return ids.filter((id) => !others.has(id));
}
