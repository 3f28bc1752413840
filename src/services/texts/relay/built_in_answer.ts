import { builtInFields } from "../../../vendors/catalog/built_in.ts";
import { type Model, readModel } from "../../../vendors/catalog/model.ts";
import { unversionedName } from "../../../conversation/models/families/fact_entry.ts";
import type { Provider } from "../../../vendors/upstreams/contract/provider.ts";

/** The built-in models that were read, by family and name. */
const known = new Map<string, Model | null>();
const MAX_KNOWN = 256;

/** The built-in model of a provider's vendor by the vendor's name; null if there is none. */
export function builtInAnswer({ builtInFamily: family }: Provider, name: string): Model | null {
  if (family === undefined) return null;
  const key = `${family} ${name}`;
  const found = known.get(key);
  if (found !== undefined) return found;
  const fields = builtInFields(family, name) ?? builtInFields(family, unversionedName(name));
  const id = `${family}/${name.replace(/^.*\//, "")}`;
  const model = fields === null ? null : readModel({ ...fields, id, serves: [{ provider: family, model: name }] });
  if (known.size >= MAX_KNOWN) known.clear();
  known.set(key, model);
  return model;
}
