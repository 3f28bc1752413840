import { MAX_FALLBACKS } from "../../../vendors/catalog/model_fields.ts";
import { ImportedConfig, type ImportedModel, type ImportResult } from "./imported_config.ts";
import { type Deployment, readDeployment } from "./litellm_deployment.ts";
import { listIn, mapIn, type SourceMap, textIn, textsIn } from "../../../vendors/prices/source_values.ts";

/** `os.environ/NAME` is the environment variable `NAME`. Source: LiteLLM, "Config.yaml". */
const VARIABLE = /^os\.environ\/(.+)$/;

/** Imports the `config.yaml` of a LiteLLM proxy. */
export function importLitellm(source: unknown, name: string): ImportResult {
  const root = mapIn(source);
  const config = new ImportedConfig((text) => VARIABLE.exec(text)?.[1] ?? null);
  const groups = new Map<string, ImportedModel | string>();
  const credentials = credentialsIn(root);
  const entries = listIn(root.model_list).map(mapIn);
  const names = new Set(entries.flatMap((entry) => textIn(entry.model_name) ?? []));
  for (const [index, entry] of entries.entries()) {
    const model = textIn(entry.model_name);
    const place = `model_list[${index}]${model === null ? "" : ` (${model})`}`;
    if (model === null) config.drop(place, "it has no model_name");
    else readDeployment({ config, groups, credentials, place, name: model, names, entry });
  }
  readAliases(config, groups, mapIn(root.router_settings));
  for (const section of ["litellm_settings", "router_settings"]) readFallbacks(config, groups, root, section);
  readGeneralSettings(config, mapIn(root.general_settings));
  dropSections(config, root);
  return config.finish(name);
}

function credentialsIn(root: SourceMap): ReadonlyMap<string, SourceMap> {
  return new Map(
    listIn(root.credential_list).map(mapIn).flatMap((each) => {
      const name = textIn(each.credential_name);
      return name === null ? [] : [[name, mapIn(each.credential_values)]];
    }),
  );
}

type Groups = Deployment["groups"];

function idOf(groups: Groups, name: string): string {
  const group = groups.get(name);
  return typeof group === "object" ? group.id : group ?? name;
}

function readAliases(config: ImportedConfig, groups: Groups, router: SourceMap): void {
  for (const [name, value] of Object.entries(mapIn(router.model_group_alias))) {
    const target = textIn(value) ?? textIn(mapIn(value).model);
    if (target !== null) config.alias(name, idOf(groups, target), `router_settings.model_group_alias.${name}`);
  }
}

/** Fallbacks after failures. Those for long contexts and refused contents have other causes. */
function readFallbacks(config: ImportedConfig, groups: Groups, root: SourceMap, section: string): void {
  const settings = mapIn(root[section]);
  for (const entry of listIn(settings.fallbacks)) {
    for (const [name, models] of Object.entries(mapIn(entry))) {
      const model = groups.get(name);
      const place = `${section}.fallbacks.${name}`;
      if (typeof model !== "object") config.drop(place, "its model is not carried");
      else {
        const fitting = textsIn(models).filter((each) => {
          const other = groups.get(each);
          const isFit = typeof other !== "object" || other.use === model.use;
          if (!isFit) config.drop(place, `"${each}" is not of the same use`);
          return isFit;
        });
        const ids = fitting.map((each) => idOf(groups, each)).filter((id) => id !== model.id);
        model.fallbacks = [...new Set([...model.fallbacks, ...ids])].slice(0, MAX_FALLBACKS);
      }
    }
  }
  for (const other of ["default_fallbacks", "context_window_fallbacks", "content_policy_fallbacks"]) {
    if (settings[other] !== undefined) config.drop(`${section}.${other}`, "there are only fallbacks after failures");
  }
}

function readGeneralSettings(config: ImportedConfig, general: SourceMap): void {
  const key = textIn(general.master_key);
  if (key !== null) config.adminKey(key, "LITELLM_MASTER_KEY", "general_settings.master_key");
  for (const field of Object.keys(general)) {
    if (field === "master_key") continue;
    const why = field === "database_url"
      ? "keys, teams and budgets in LiteLLM's database are not read; create accounts and keys"
      : "it has no counterpart";
    config.drop(`general_settings.${field}`, why);
  }
}

const READ_SETTINGS = /(^|_)fallbacks$|^model_group_alias$/;

function dropSections(config: ImportedConfig, root: SourceMap): void {
  for (const section of ["litellm_settings", "router_settings"]) {
    for (const field of Object.keys(mapIn(root[section]))) {
      if (!READ_SETTINGS.test(field)) config.drop(`${section}.${field}`, "it has no counterpart");
    }
  }
  const read = new Set(["model_list", "litellm_settings", "router_settings", "general_settings", "credential_list"]);
  for (const section of Object.keys(root)) if (!read.has(section)) config.drop(section, "it has no counterpart");
}
