import type { ImportedConfig } from "./imported_config.ts";
import { mapIn, type SourceMap, textIn, textsIn } from "../../../vendors/prices/source_values.ts";

/** A model as a key of a provider serves it. */
export interface NamedModel {
  /** Its name at the vendor, such as that of a deployment. */
  readonly model: string;
  /** The name that tells what it is. */
  readonly known: string;
}

/** The models that a key of a provider serves. */
export interface KeyModels {
  /** By their names for callers. */
  readonly names: ReadonlyMap<string, NamedModel>;
  /** Whether it also serves all models that the vendor lists. */
  readonly isAll: boolean;
}

/** The models that a key serves: their names here with those at the vendor; all that the vendor lists for a star. */
export function modelsOf(
  config: ImportedConfig,
  key: SourceMap,
  place: string,
  emptyAllowsAll: boolean,
): KeyModels {
  const aliases = aliasesOf(config, key, place);
  const listed = textsIn(key.models);
  const isAll = listed.includes("*") || (listed.length === 0 && emptyAllowsAll);
  if (listed.length === 0 && !emptyAllowsAll) {
    config.drop(place, 'its "models" is empty, which allows none; with "version": 1 in the file it allows all');
    return { names: new Map(), isAll: false };
  }
  const blocked = textsIn(key.blacklisted_models);
  const isBlocked = (name: string) => blocked.includes("*") || blocked.includes(name);
  const names = (isAll ? [...aliases.keys()] : listed).filter((name) => {
    if (!name.startsWith("regex:")) return !isBlocked(name);
    config.drop(place, "models: a regular expression has no counterpart");
    return false;
  });
  if (blocked.some((name) => name.startsWith("regex:"))) {
    config.drop(place, "blacklisted_models has a regular expression, so its models are left out");
    return { names: new Map(), isAll: false };
  }
  if (isAll && blocked.length > 0) {
    config.drop(place, "a pattern cannot leave out blacklisted_models; only models by name are carried");
  }
  return {
    names: new Map(names.map((name) => [name, aliases.get(name) ?? { model: name, known: name }])),
    isAll: isAll && blocked.length === 0,
  };
}

/**
 * The aliases of a key. Those with an address of their own are left out. A deployment at Azure is called by what it is,
 * and has any name there; elsewhere the vendor's name tells it.
 */
function aliasesOf(config: ImportedConfig, key: SourceMap, place: string): ReadonlyMap<string, NamedModel> {
  const isAzure = key.azure_key_config !== undefined;
  const deployments = Object.entries(key).flatMap(([field, value]) =>
    field.endsWith("_key_config") ? Object.entries(mapIn(mapIn(value).deployments)) : []
  );
  return new Map(
    [...deployments, ...Object.entries(mapIn(key.aliases))].flatMap(([name, value]): [string, NamedModel][] => {
      const alias = mapIn(value);
      const own = Object.keys(alias).find((field) => !/^(model_id|model_name|model_family|description)$/.test(field));
      if (own !== undefined) {
        config.drop(`${place}.aliases.${name}`, `${own} of an alias has no counterpart, so it is left out`);
        return [];
      }
      const model = textIn(value) ?? textIn(alias.model_id) ?? name;
      return [[name, { model, known: textIn(alias.model_name) ?? (isAzure ? name : model) }]];
    }),
  );
}
