import { matchesWildcard } from "../../../../money/limits/wildcard.ts";
import type { ListedModel } from "../../shapes.ts";

/** Prices are sorted by the sum of input and output. */
const priceOf = ({ pricing: { prompt = "Infinity", completion = "0" } }: ListedModel) =>
  Number(prompt) + Number(completion);

/**
 * The ids of the models of texts that a key may use, the one with the lowest price first.
 *
 * @param allowed Ids and patterns with stars; null for all models.
 */
export function usableModels(models: readonly ListedModel[], allowed: readonly string[] | null): string[] {
  return models.filter(({ architecture }) => architecture.output_modalities.includes("text"))
    .filter(({ id, aliases = [] }) =>
      allowed === null || allowed.some((each) => [id, ...aliases].some((name) => matchesWildcard(each, name)))
    )
    .toSorted((one, other) => priceOf(one) - priceOf(other) || 0)
    .map(({ id }) => id);
}
