import { ConfigError } from "../../../config/tree/config_error.ts";
import type { Config, LoadedConfig } from "../../../config/config.ts";
import { readStoredConfig } from "../../../config/diff/stored_config.ts";
import type { ConfigSource } from "../../../config/config_file.ts";
import type { Log, LogLevel } from "../../../platform/lib/basics/log.ts";
import type { Store } from "../../../platform/store/store.ts";

/** What a running gateway needs to read its configuration again. */
export interface LiveSettings {
  readonly source: ConfigSource;
  /** Sets the lowest level that is logged. */
  readonly setLogLevel: (level: LogLevel) => void;
}

/** The configuration at the start. */
export interface StartedConfig extends LiveSettings {
  readonly loaded: LoadedConfig;
  /** The version of the settings in the store that is in force; 0 for none. */
  readonly version: number;
}

/**
 * Adds the settings in the store to the configuration of a start. If the two do not fit together, the gateway starts
 * without those of the store and logs each problem. The file alone is valid, and only a running gateway can repair the
 * others.
 *
 * @param loaded The file and the environment.
 */
export async function startConfig(
  settings: LiveSettings,
  loaded: LoadedConfig,
  { store, log }: { readonly store: Pick<Store, "get">; readonly log: Log },
): Promise<StartedConfig> {
  const { version, content } = await readStoredConfig(store);
  if (version === 0) return { ...settings, loaded, version };
  try {
    return { ...settings, loaded: await settings.source.load(content), version };
  } catch (error) {
    if (!(error instanceof ConfigError)) throw error;
    for (const problem of error.problems) log.error("stored_config_ignored", { reason: problem });
    return { ...settings, loaded, version };
  }
}

/**
 * Adds to the halts that the configuration states since when they hold: since the gateway has read them first.
 *
 * @param before The configuration before, whose moments are kept; null at the start.
 * @param now Unix milliseconds.
 */
export function withDatedHalts(config: Config, before: Pick<Config, "providers"> | null, now: number): Config {
  const undated = Object.entries(config.providers).filter(([, { halt }]) => halt !== undefined && halt.since === null);
  if (undated.length === 0) return config;
  const dated: Config["providers"] = Object.fromEntries(
    undated.map(([name, provider]) => {
      const { halt } = provider;
      const known = ownHaltOf(before?.providers ?? {}, name);
      const since = known?.by === null && known.state === halt?.state ? known.since : now;
      return [name, { ...provider, ...halt && { halt: { ...halt, since } } }];
    }),
  );
  return { ...config, providers: { ...config.providers, ...dated } };
}

function ownHaltOf(providers: Config["providers"], name: string) {
  return Object.hasOwn(providers, name) ? providers[name]?.halt : undefined;
}
