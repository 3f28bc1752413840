import type { Model } from "../catalog/model.ts";
import { builtInFamilyOf } from "../config/environment.ts";
import { ownValue } from "../lib/own_value.ts";
import { createModelLists, type ModelLists } from "../routing/model_lists.ts";
import type { Services } from "./services.ts";

/**
 * Builds the lists of the models that providers offer, for the entries of `models` with a star.
 *
 * @param onChange Called with the models of all providers whenever they change.
 */
export function createConfiguredModelLists(
  { config, providers, files, clock, log, random }: Services,
  onChange: (models: readonly Model[]) => void,
): ModelLists {
  const names = new Set(config.modelPatterns.map(({ provider }) => provider));
  const listed = [...names].flatMap((name) => {
    const provider = providers.get(name);
    const settings = ownValue(config.providers, name);
    if (provider === undefined || settings === undefined) return [];
    return [{
      provider,
      baseUrl: settings.baseUrl,
      family: builtInFamilyOf(name, settings),
      patterns: config.modelPatterns.filter((pattern) => pattern.provider === name),
    }];
  });
  return createModelLists({ providers: listed, files: files.modelLists, clock, log, random, onChange });
}
