import type { AnsweringModels } from "./answering_models.ts";
import { type CatalogFacts, type ModelFacts, UNKNOWN_FACTS } from "../facts/model_facts.ts";
import { ALIBABA_FACTS } from "./families/alibaba.ts";
import { ANTHROPIC_FACTS } from "./families/anthropic.ts";
import { DEEPSEEK_FACTS } from "./families/deepseek.ts";
import { comparableName, type FactEntry, type FactLayer, layersIn, matchesModel } from "./families/fact_entry.ts";
import { GOOGLE_FACTS } from "./families/google.ts";
import { MOONSHOT_FACTS } from "./families/moonshot.ts";
import { OPENAI_FACTS } from "./families/openai.ts";
import { SCHEMA_REFERENCE_FACTS } from "./families/schema_references.ts";
import { XAI_FACTS } from "./families/xai.ts";
import { ZAI_FACTS } from "./families/zai.ts";

/**
 * Returns the key of the facts of one model at one provider.
 *
 * @param name The vendor's name of the model.
 */
export function listedFactsKey(provider: string, name: string): string {
  return `${provider}/${name}`;
}

/** Facts that an operator states about models of a provider (`providers.<name>.facts`), by patterns of their names. */
export type ProviderFacts = Readonly<Record<string, Partial<ModelFacts>>>;

/** What a provider states about its models. */
export interface StatedFacts {
  /** Its name. Default: none, so that nothing of its list is known. */
  readonly name?: string;
  /** Default: none. */
  readonly facts?: ProviderFacts;
  /** The models with which the vendor answers in the place of others. Default: none. */
  readonly answering?: Pick<AnsweringModels, "current">;
}

/** A provider without facts. */
const NO_STATED_FACTS: StatedFacts = {};

/**
 * The facts of a model. The family is recognized by the vendor's name of the model, or else by the name in its catalog
 * id; the vendor's list overrides it, and the catalog entry overrides both. A non-empty `supported_parameters` is taken
 * as complete: a model that lists neither `reasoning` nor `reasoning_effort` does not reason, and one that does not
 * list `temperature` rejects sampling settings. What an operator states as `facts` overrides all, the model's before
 * the provider's. A model in whose place the vendor answers with another one has the facts of that one.
 *
 * @param upstreamName The vendor's name of the model, possibly with its maker before a slash.
 * @param provider The same object for each request, since facts are kept for it.
 */
export function modelFacts(
  upstreamName: string,
  entry: CatalogFacts,
  provider: StatedFacts = NO_STATED_FACTS,
): ModelFacts {
  const answering = provider.answering?.current(upstreamName) ?? null;
  if (answering !== null) return ownFacts(answering.name, answering.entry, provider);
  return ownFacts(upstreamName, entry, provider);
}

function ownFacts(upstreamName: string, entry: CatalogFacts, provider: StatedFacts): ModelFacts {
  let ofEntry = knownFacts.get(entry);
  if (ofEntry === undefined) knownFacts.set(entry, ofEntry = new WeakMap());
  let ofProvider = ofEntry.get(provider);
  if (ofProvider === undefined) ofEntry.set(provider, ofProvider = new Map());
  const known = ofProvider.get(upstreamName);
  if (known !== undefined) return known;
  const facts = merged(ownLayers(upstreamName, entry, provider));
  ofProvider.set(upstreamName, facts);
  return facts;
}

function merged(layers: readonly FactLayer[]): ModelFacts {
  return layers.reduce<ModelFacts>((all, { facts }) => ({ ...all, ...facts }), UNKNOWN_FACTS);
}

/** Facts by catalog entry, provider and the vendor's name of the model. They are needed for every request. */
const knownFacts = new WeakMap<CatalogFacts, WeakMap<StatedFacts, Map<string, ModelFacts>>>();

/** Returns where the facts of a model come from. Later layers override earlier ones. Arguments as `modelFacts`. */
export function factLayers(
  upstreamName: string,
  entry: CatalogFacts,
  provider: StatedFacts = NO_STATED_FACTS,
): readonly FactLayer[] {
  const answering = provider.answering?.current(upstreamName) ?? null;
  return answering === null
    ? ownLayers(upstreamName, entry, provider)
    : ownLayers(answering.name, answering.entry, provider);
}

function ownLayers(upstreamName: string, entry: CatalogFacts, provider: StatedFacts): readonly FactLayer[] {
  const family = familyLayers(upstreamName) ?? ownFamilyLayers(upstreamName) ?? familyLayers(entry.id);
  const layers = [...family ?? [], ...layersIn(SCHEMA_REFERENCE_FACTS, comparableName(upstreamName))];
  const listed = entry.listedFacts?.[listedFactsKey(provider.name ?? "", upstreamName)];
  if (listed !== undefined) layers.push({ source: "the vendor's list", facts: listed });
  const stated = catalogFacts(entry.supportedParameters, merged(family ?? []));
  if (Object.keys(stated).length > 0) layers.push({ source: "supported_parameters of the model", facts: stated });
  // What is stated about a model of no known family is stated about this vendor's model.
  const ofVendor: Partial<ModelFacts> = family === null ? { hasCompatibleChat: true } : {};
  const name = comparableName(upstreamName);
  for (const [pattern, facts] of Object.entries(provider.facts ?? {})) {
    const matches = matchesModel(pattern.toLowerCase(), name) || matchesModel(pattern, upstreamName);
    if (!matches) continue;
    layers.push({ source: `facts of the provider for "${pattern}"`, facts: { ...ofVendor, ...facts } });
  }
  if (entry.facts !== undefined) layers.push({ source: "facts of the model", facts: { ...ofVendor, ...entry.facts } });
  return layers;
}

/** What holds for a model wherever it is served. */
const FAMILIES: readonly (readonly FactEntry[])[] = [OPENAI_FACTS, ANTHROPIC_FACTS, GOOGLE_FACTS];

/** What holds at the maker's own interface. Other vendors serve the same models with rules of their own. */
const OWN_FAMILIES: readonly (readonly FactEntry[])[] = [
  DEEPSEEK_FACTS,
  XAI_FACTS,
  MOONSHOT_FACTS,
  ZAI_FACTS,
  ALIBABA_FACTS,
];

/** The facts of a model family, the most general first; null for a name of no known family. */
function familyLayers(name: string): readonly FactLayer[] | null {
  return layersAmong(FAMILIES, name);
}

/** The same for makers whose name of a model has no maker before it, as other vendors' names of it have. */
function ownFamilyLayers(name: string): readonly FactLayer[] | null {
  return name.includes("/") ? null : layersAmong(OWN_FAMILIES, name);
}

function layersAmong(families: readonly (readonly FactEntry[])[], name: string): readonly FactLayer[] | null {
  const comparable = comparableName(name);
  for (const family of families) {
    const layers = layersIn(family, comparable);
    if (layers.length > 0) return layers;
  }
  return null;
}

const REASONING_PARAMETERS = ["reasoning", "reasoning_effort", "thinking"];

function catalogFacts(parameters: readonly string[], { samplingSupport }: ModelFacts): Partial<ModelFacts> {
  if (parameters.length === 0) return {};
  const reasons = REASONING_PARAMETERS.some((name) => parameters.includes(name));
  const samples = parameters.includes("temperature");
  return {
    canReason: reasons,
    // Only the family determines which sampling settings can be combined.
    ...(samples
      ? (samplingSupport === "never" ? { samplingSupport: "always" as const } : {})
      : { samplingSupport: "never" as const }),
  };
}
