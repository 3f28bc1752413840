import { resolve } from "node:path";
import { type Config, type LoadedConfig, readConfig, readLayers } from "./config.ts";
import { ConfigError } from "./config_error.ts";
import type { StoredConfig } from "./config_tree.ts";
import type { Environment } from "./expansion.ts";

/** Options of {@linkcode loadConfig} and {@linkcode checkConfig}. */
export interface LoadOptions {
  /**
   * The path of the file. Default: `SWITCHYARD_CONFIG`, else the first of {@linkcode DEFAULT_FILE_NAMES} that exists.
   */
  readonly path?: string | undefined;
  /** Reads environment variables. */
  readonly env: Environment;
  /** Gives the text of a file, or null if it does not exist. Default: from the disk. */
  readonly readFile?: (path: string) => string | null;
}

/** The result of a check. */
export interface ConfigCheck {
  /** The file that was read, or `environment` when there is none. */
  readonly source: string;
  /** One line each; empty if the configuration is valid. */
  readonly problems: readonly string[];
  /** Null if there are problems. */
  readonly config: Config | null;
}

/** The files that are tried in the working directory, in this order. */
const DEFAULT_FILE_NAMES = ["switchyard.yaml", "switchyard.yml", "switchyard.json"];

const MAX_FILE_CHARACTERS = 4_000_000;

/**
 * Loads the configuration of the gateway. Without a file all settings are from the environment.
 *
 * @throws {ConfigError} With all problems.
 */
export function loadConfig(options: LoadOptions): Config {
  const { source, text } = sourceOf(options);
  return readConfig(text, source, options.env);
}

/** Reads the configuration of a gateway again and again, with the settings of its store. */
export interface ConfigSource {
  /** The absolute path of the file; null without a file. */
  readonly path: string | null;
  /**
   * Reads the file and the environment.
   *
   * @throws {ConfigError} With all problems.
   */
  load(stored: StoredConfig): LoadedConfig;
}

/**
 * Finds the file of the configuration. The source reads this file only, also if another one appears later.
 *
 * @throws {ConfigError} If a named file does not exist.
 */
export function openConfigSource({ path, env, readFile = textOf }: LoadOptions): ConfigSource {
  const { source } = sourceOf({ path, env, readFile });
  const found = source === ENVIRONMENT ? null : source;
  return {
    path: found === null ? null : resolve(found),
    load(stored) {
      const text = found === null ? "" : sourceOf({ path: found, env, readFile }).text;
      return readLayers({ text, file: source, env, stored });
    },
  };
}

/** The name of a configuration without a file. */
const ENVIRONMENT = "environment";

/** Loads a configuration and collects its problems. */
export function checkConfig(options: LoadOptions): ConfigCheck {
  let source = options.path ?? ENVIRONMENT;
  try {
    const found = sourceOf(options);
    source = found.source;
    return { source, problems: [], config: readConfig(found.text, source, options.env) };
  } catch (error) {
    if (error instanceof ConfigError) return { source, problems: error.problems, config: null };
    throw error;
  }
}

function sourceOf({ path, env, readFile = textOf }: LoadOptions): { source: string; text: string } {
  const named = path ?? (env("SWITCHYARD_CONFIG") || undefined);
  for (const source of named === undefined ? DEFAULT_FILE_NAMES : [named]) {
    const text = readFile(source);
    if (text === null) continue;
    if (text.length > MAX_FILE_CHARACTERS) {
      throw new ConfigError([`${source}: expected at most ${MAX_FILE_CHARACTERS} characters, got ${text.length}`]);
    }
    return { source, text };
  }
  if (named !== undefined) throw new ConfigError([`${named}: expected a configuration file, got no such file`]);
  return { source: ENVIRONMENT, text: "" };
}

function textOf(path: string): string | null {
  try {
    return new TextDecoder("utf-8", { fatal: true }).decode(Deno.readFileSync(path));
  } catch (error) {
    if (error instanceof Deno.errors.NotFound) return null;
    if (error instanceof TypeError) throw new ConfigError([`${path}: expected UTF-8 text, got other bytes`]);
    const kind = error instanceof Error ? error.name : "an unknown failure";
    throw new ConfigError([`${path}: expected a readable file, got ${kind}`]);
  }
}
