import { type ModelFacts, UNKNOWN_FACTS } from "./model_facts.ts";
import { anthropicFacts } from "./model_families/anthropic.ts";
import { googleFacts } from "./model_families/google.ts";
import { openaiFacts } from "./model_families/openai.ts";

/** What a catalog entry states about its model. */
export interface CatalogFacts {
  /** `<provider>/<model_name>`. */
  readonly id: string;
  /** Request parameters by their names in the chat format; empty where the operator named none. */
  readonly supportedParameters: readonly string[];
}

/**
 * The facts of a model. The family is recognised by the vendor's name of the model, or else by the name in its catalog
 * id; the catalog entry overrides it. A non-empty `supported_parameters` is taken as complete: a model that lists
 * neither `reasoning` nor `reasoning_effort` does not reason, and one that does not list `temperature` rejects sampling
 * settings.
 *
 * @param upstreamName The vendor's name of the model, possibly with its maker before a slash.
 */
export function modelFacts(upstreamName: string, entry: CatalogFacts): ModelFacts {
  const known = factsOfEntries.get(entry)?.get(upstreamName);
  if (known !== undefined) return known;
  const facts = factsOf(upstreamName, entry);
  const ofEntry = factsOfEntries.get(entry);
  if (ofEntry === undefined) factsOfEntries.set(entry, new Map([[upstreamName, facts]]));
  else ofEntry.set(upstreamName, facts);
  return facts;
}

/** Facts by catalog entry and the vendor's name of the model. They are needed for every translated request. */
const factsOfEntries = new WeakMap<CatalogFacts, Map<string, ModelFacts>>();

function factsOf(upstreamName: string, entry: CatalogFacts): ModelFacts {
  const family = familyFacts(upstreamName) ?? familyFacts(entry.id) ?? {};
  return { ...UNKNOWN_FACTS, ...family, ...catalogFacts(entry.supportedParameters, family) };
}

const FAMILIES = [openaiFacts, anthropicFacts, googleFacts];

/** The facts of a model family; null for a name of no known family. */
function familyFacts(name: string): Partial<ModelFacts> | null {
  const ownName = name.slice(name.lastIndexOf("/") + 1).toLowerCase();
  for (const factsOf of FAMILIES) {
    const facts = factsOf(ownName);
    if (facts !== null) return facts;
  }
  return null;
}

const REASONING_PARAMETERS = ["reasoning", "reasoning_effort", "thinking"];

function catalogFacts(parameters: readonly string[], family: Partial<ModelFacts>): Partial<ModelFacts> {
  if (parameters.length === 0) return {};
  const reasons = REASONING_PARAMETERS.some((name) => parameters.includes(name));
  const samples = parameters.includes("temperature");
  return {
    canReason: reasons,
    // Only the family determines which sampling settings can be combined.
    ...(samples
      ? (family.samplingSupport === "never" ? { samplingSupport: "always" as const } : {})
      : { samplingSupport: "never" as const }),
  };
}
