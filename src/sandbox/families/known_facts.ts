import { type ModelFacts, UNKNOWN_FACTS } from "../../conversation/facts/model_facts.ts";
import { comparableName, type FactEntry, layersIn } from "../../conversation/models/families/fact_entry.ts";

/**
 * Returns what a maker documents about one of its models. All facts of a name that the maker does not have are unknown,
 * and a simulated vendor refuses nothing because of them.
 *
 * @param model The vendor's name of the model, as the request has it.
 */
export function factsIn(family: readonly FactEntry[], model: string): ModelFacts {
  const layers = layersIn(family, comparableName(model));
  return layers.reduce<ModelFacts>((all, { facts }) => ({ ...all, ...facts }), UNKNOWN_FACTS);
}
