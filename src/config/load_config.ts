import { type Config, type LoadedConfig, readConfig, readLayers } from "./config.ts";
import { ConfigError } from "./tree/config_error.ts";
import {
  absolutePathOf,
  type ConfigSource,
  ENVIRONMENT,
  type LoadOptions,
  readConfigFile,
  readConfigFileAgain,
} from "./config_file.ts";
import type { StoredConfig } from "./tree/plain_tree.ts";

/** The result of a check. */
export interface ConfigCheck {
  /** The file that was read, or `environment` when there is none. */
  readonly source: string;
  /** One line each; empty if the configuration is valid. */
  readonly problems: readonly string[];
  /** Null if there are problems. */
  readonly config: Config | null;
}

/**
 * Loads the configuration of the gateway. Without a file all settings are from the environment.
 *
 * @throws {ConfigError} With all problems.
 */
export function loadConfig(options: LoadOptions): Config {
  const { source, text } = readConfigFile(options);
  return readConfig(text, source, options.env);
}

/** A source that reads in the calling thread. */
export interface DirectConfigSource extends ConfigSource {
  load(stored: StoredConfig): LoadedConfig;
}

/**
 * Finds the file of the configuration. The source reads this file only, also if another one appears later.
 *
 * @throws {ConfigError} If a named file does not exist.
 */
export function openConfigSource(options: LoadOptions): DirectConfigSource {
  const { source: file } = readConfigFile(options);
  return {
    path: absolutePathOf(file),
    load(stored) {
      const { text } = readConfigFileAgain(file, options);
      return readLayers({ text, file, env: options.env, stored });
    },
  };
}

/** Loads a configuration and collects its problems. */
export function checkConfig(options: LoadOptions): ConfigCheck {
  let source = options.path ?? ENVIRONMENT;
  try {
    const found = readConfigFile(options);
    source = found.source;
    return { source, problems: [], config: readConfig(found.text, source, options.env) };
  } catch (error) {
    if (error instanceof ConfigError) return { source, problems: error.problems, config: null };
    throw error;
  }
}
