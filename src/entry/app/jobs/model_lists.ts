import { isDeepStrictEqual } from "node:util";
import type { Model } from "../../../vendors/catalog/model.ts";
import type { PriceBook } from "../../../vendors/catalog/sourced_model.ts";
import { builtInFamilyOf } from "../../../config/environment.ts";
import { elementAt } from "../../../platform/lib/collections/element_at.ts";
import { ownValue } from "../../../platform/lib/collections/own_value.ts";
import { createModelLists, type ListedProvider, type ModelLists } from "../../../vendors/routing/model_lists.ts";
import type { ConfiguredParts } from "../opening/configured_parts.ts";
import type { Services } from "../opening/services.ts";

/**
 * Builds the lists of the models that providers offer, for the entries of `models` with a star.
 *
 * @param book The prices of the price source.
 * @param onChange Called with the models of all providers whenever they change.
 */
export function createConfiguredModelLists(
  { config, providers, files, clock, log, random }: Services,
  book: PriceBook,
  onChange: (models: readonly Model[]) => void,
): ModelLists {
  return createModelLists({
    providers: listedProviders({ config, providers }),
    files: files.modelLists,
    book,
    clock,
    log,
    random,
    onChange,
  });
}

/** Whether two configurations read the same lists over the same providers. */
export function hasSameModelLists(one: ConfiguredParts, other: ConfiguredParts): boolean {
  const [lists, others] = [listedProviders(one), listedProviders(other)];
  return lists.length === others.length && lists.every(({ provider, ...settings }, index) => {
    const { provider: otherProvider, ...otherSettings } = elementAt(others, index);
    return provider === otherProvider && isDeepStrictEqual(settings, otherSettings);
  });
}

function listedProviders({ config, providers }: Pick<ConfiguredParts, "config" | "providers">): ListedProvider[] {
  const names = new Set(config.modelPatterns.map(({ provider }) => provider));
  return [...names].flatMap((name) => {
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
}
