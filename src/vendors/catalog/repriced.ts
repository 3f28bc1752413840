import { builtInEntries, builtInFields } from "./built_in.ts";
import { bareNameOf, providerPartOf } from "./catalog.ts";
import { type Model, readModel } from "./model.ts";
import { type PriceBook, sourcedKey, withSourced } from "./sourced_model.ts";
import { nextTurn } from "../../platform/lib/streams/loop_turns.ts";

/** The number of models processed before requests get a turn. Each takes some hundredths of a millisecond. */
const MODELS_AT_ONCE = 50;

/**
 * The built-in models whose prices differ by a price source, with the prices of the source.
 *
 * @param ids The built-in models in use.
 */
export async function repricedModels(ids: readonly string[], book: PriceBook): Promise<readonly Model[]> {
  const wanted = new Set(ids);
  const entries = builtInEntries(new Set(ids.map(providerPartOf))).filter(({ id }) => wanted.has(String(id)));
  const models: Model[] = [];
  for (const [index, { id, serves }] of entries.entries()) {
    if (index % MODELS_AT_ONCE === MODELS_AT_ONCE - 1) await nextTurn();
    const family = providerPartOf(String(id));
    const name = vendorNameIn(serves) ?? bareNameOf(String(id));
    const [sourced, known] = [book[sourcedKey(family, name)], builtInFields(family, name)];
    if (sourced === undefined || known === null) continue;
    // The built-in prices stay if the stored ones cannot be used.
    const model = readSourced({ ...withSourced(known, sourced), id, serves });
    if (model !== null) models.push(model);
  }
  return models;
}

/**
 * Reads a model with prices of a price source. Null for prices that an earlier version stored and that this one does
 * not take.
 */
export function readSourced(fields: Readonly<Record<string, unknown>>): Model | null {
  try {
    return readModel(fields);
  } catch {
    return null;
  }
}

function vendorNameIn(serves: unknown): string | null {
  const [first] = serves as readonly { readonly model?: string }[];
  return first?.model ?? null;
}
