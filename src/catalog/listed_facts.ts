import { type ListedFacts, listedFactsKey } from "../conversation/known_models.ts";
import type { Model } from "./model.ts";

/** Models with the facts that lists state about them. A model without any stays the same object. */
export function withListedFacts(models: readonly Model[], listed: ListedFacts): readonly Model[] {
  if (Object.keys(listed).length === 0) return models;
  return models.map((model) => {
    const keys = model.serves.map((serving) => listedFactsKey(serving.provider, serving.model))
      .filter((key) => Object.hasOwn(listed, key));
    return keys.length === 0
      ? model
      : { ...model, listedFacts: Object.fromEntries(keys.map((key) => [key, listed[key] ?? {}])) };
  });
}
