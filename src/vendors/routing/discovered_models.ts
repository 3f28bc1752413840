import { type BuiltInFields, builtInFields } from "../catalog/built_in.ts";
import { bareNameOf, providerPartOf } from "../catalog/catalog.ts";
import { withListedFacts } from "../catalog/live_catalog.ts";
import { listedFactsKey } from "../../conversation/models/known_models.ts";
import { type Model, readModel } from "../catalog/model.ts";
import { isModelId } from "../catalog/model_name.ts";
import { isNamedBy, type ModelPattern } from "../catalog/model_pattern.ts";
import {
  fieldsOfSourced,
  type PriceBook,
  sourcedKey,
  type SourcedModel,
  withSourced,
} from "../catalog/sourced_model.ts";
import { ownValue } from "../../platform/lib/collections/own_value.ts";
import type { ListedModel } from "../upstreams/contract/model_listing.ts";
import { nextTurn } from "../../platform/lib/streams/loop_turns.ts";
import { readSourced } from "../catalog/repriced.ts";

/** The models of one provider's list. */
export interface DiscoveredModels {
  readonly models: readonly Model[];
  /** The number of models left out because they have no price. */
  readonly unpriced: number;
  /** The number of models left out because their name cannot form an id. */
  readonly unusable: number;
}

/** The number of models processed before requests get a turn. Each takes some hundredths of a millisecond. */
const MODELS_AT_ONCE = 100;

/**
 * Creates the models of one provider's list from patterns. A built-in model has its built-in price and properties, the
 * price replaced by that of the price source. Any other model has those of the longest pattern that matches its name,
 * or else the price and the properties in the price source. It is left out if none has a price.
 *
 * @param patterns All patterns of this provider.
 * @param family The first part of the ids of the vendor's built-in models; null if it has none.
 * @param book The prices of the price source. Default: none.
 */
export async function discoveredModels(
  patterns: readonly ModelPattern[],
  listed: readonly ListedModel[],
  family: string | null,
  book: PriceBook = {},
): Promise<DiscoveredModels> {
  const longestFirst = patterns.toSorted((one, other) => other.before.length - one.before.length);
  const models: Model[] = [];
  let [unpriced, unusable] = [0, 0];
  for (const [index, each] of listed.entries()) {
    if (index % MODELS_AT_ONCE === MODELS_AT_ONCE - 1) await nextTurn();
    const pattern = longestFirst.find((pattern) => isNamedBy(pattern, each.id));
    if (pattern === undefined) continue;
    const known = family === null ? null : builtInFields(family, each.id);
    const sourced = family === null ? undefined : ownValue(book, sourcedKey(family, each.id));
    const isPriced = known !== null || sourced !== undefined || pattern.servesUnpriced;
    const model = isPriced ? modelFor(pattern, each, { known, sourced }) : null;
    if (model !== null) models.push(model);
    else if (isModelId(idFor(pattern, each))) unpriced++;
    else unusable++;
  }
  return { models, unpriced, unusable };
}

function idFor({ id }: ModelPattern, listed: ListedModel): string {
  return `${providerPartOf(id)}/${listed.id}`;
}

/** What is known of a listed model. */
interface Known {
  /** Its built-in fields; null if it is not built in. */
  readonly known: BuiltInFields | null;
  /** What the price source states; undefined for nothing. */
  readonly sourced: SourcedModel | undefined;
}

/** Null if the name cannot form an id, or the price source has no usable price. */
function modelFor(
  pattern: ModelPattern,
  listed: ListedModel,
  { known, sourced }: Known,
): Model | null {
  const id = idFor(pattern, listed);
  if (!isModelId(id)) return null;
  const serves = [{ provider: pattern.provider, model: listed.id }];
  const fields = { ...fieldsFor(pattern, listed, { known, sourced }), id, serves };
  const model = sourced === undefined ? readModel(fields) : readSourced(fields);
  if (model === null) return null;
  if (listed.facts === undefined) return model;
  const [stated = model] = withListedFacts([model], { [listedFactsKey(pattern.provider, listed.id)]: listed.facts });
  return stated;
}

/** The fields of a listed model: what is built in, or in the price source, or in the pattern. */
function fieldsFor(pattern: ModelPattern, listed: ListedModel, { known, sourced }: Known): BuiltInFields {
  const { fallbacks, owned_by } = pattern.fields;
  // Absent in lists that an earlier version stored.
  const dated = typeof listed.expirationDate === "string" && { expiration_date: listed.expirationDate };
  if (known !== null) {
    const priced = sourced === undefined ? known : withSourced(known, sourced);
    return { ...priced, ...dated, fallbacks, owned_by };
  }
  const fields = sourced === undefined || pattern.servesUnpriced
    ? { ...pattern.fields, ...factsOf(pattern, listed) }
    : { ...factsOf(pattern, listed), ...fieldsOfSourced(sourced), fallbacks, owned_by };
  return { ...fields, ...dated };
}

const MODALITIES = ["text", "image", "file", "audio", "video"];

/** The properties that the vendor lists, overridden by the operator's fields in the pattern. */
function factsOf({ fields }: ModelPattern, listed: ListedModel): Record<string, unknown> {
  const inputs = listed.inputModalities?.filter((each) => MODALITIES.includes(each)) ?? [];
  const isTop = typeof fields.top_provider === "object" && fields.top_provider !== null;
  return {
    name: listed.name ?? bareNameOf(listed.id),
    description: listed.description ?? "",
    created: listed.created ?? 0,
    ...(fields.context_length === undefined ? { context_length: listed.contextLength ?? 0 } : {}),
    ...(isTop ? {} : { top_provider: { max_completion_tokens: listed.maxOutputTokens ?? 0 } }),
    ...(fields.architecture === undefined && inputs.length > 0
      ? { architecture: { input_modalities: [...new Set(inputs)] } }
      : {}),
  };
}
