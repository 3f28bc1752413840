import { readGovernance } from "./bifrost_governance.ts";
import { type CarriedProvider, readProvider } from "./bifrost_provider.ts";
import { ImportedConfig, type ImportResult } from "./imported_config.ts";
import { mapIn } from "../../../vendors/prices/source_values.ts";

/** `env.NAME` is the environment variable `NAME`. Source: Bifrost, "config.json". */
const VARIABLE = /^env\.(.+)$/;

/** Imports the `config.json` of a Bifrost gateway. */
export function importBifrost(source: unknown, name: string): ImportResult {
  const root = mapIn(source);
  const config = new ImportedConfig((text) => VARIABLE.exec(text)?.[1] ?? null);
  // Source: Bifrost, "Migrating to v1.5.0": an empty list allows nothing, unless the file has version 1.
  const emptyAllowsAll = root.version === 1;
  const providers = new Map<string, CarriedProvider>();
  for (const [vendor, entry] of Object.entries(mapIn(root.providers))) {
    const provider = readProvider(config, { name: vendor, entry: mapIn(entry), emptyAllowsAll });
    if (provider !== null) providers.set(vendor, provider);
  }
  readGovernance({ config, providers, emptyAllowsAll }, mapIn(root.governance));
  for (const section of Object.keys(root)) {
    if (!["$schema", "version", "providers", "governance"].includes(section)) {
      config.drop(section, "it has no counterpart");
    }
  }
  return config.finish(name);
}
