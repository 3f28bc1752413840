import { resolve } from "node:path";
import type { MaybePromise } from "../platform/lib/basics/maybe_promise.ts";
import type { LoadedConfig } from "./config.ts";
import { ConfigError } from "./tree/config_error.ts";
import type { Environment } from "./tree/expansion.ts";
import type { StoredConfig } from "./tree/plain_tree.ts";

/** Where a configuration is. */
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

/** The files that are tried in the working directory, in this order. */
const DEFAULT_FILE_NAMES = ["switchyard.yaml", "switchyard.yml", "switchyard.json"];

const MAX_FILE_CHARACTERS = 4_000_000;

/** The name of a configuration without a file. */
export const ENVIRONMENT = "environment";

/** Reads the configuration of a gateway again and again, with the settings of its store. */
export interface ConfigSource {
  /** The absolute path of the file; null without a file. */
  readonly path: string | null;
  /**
   * Reads the file and the environment.
   *
   * @throws {ConfigError} With all problems.
   */
  load(stored: StoredConfig): MaybePromise<LoadedConfig>;
}

/** The text of a configuration. */
export interface ConfigText {
  /** The name of the file, or {@linkcode ENVIRONMENT} without one. */
  readonly source: string;
  readonly text: string;
}

/**
 * Finds and reads the file of the configuration.
 *
 * @throws {ConfigError} If a named file does not exist, or if the file cannot be read.
 */
export function readConfigFile({ path, env, readFile = textOf }: LoadOptions): ConfigText {
  const named = path ?? (env("SWITCHYARD_CONFIG") || undefined);
  for (const source of named === undefined ? DEFAULT_FILE_NAMES : [named]) {
    const text = readFile(source);
    if (text === null) continue;
    if (text.length > MAX_FILE_CHARACTERS) {
      throw new ConfigError([`${source}: expected at most ${MAX_FILE_CHARACTERS} characters, got ${text.length}`]);
    }
    return { source, text };
  }
  if (named !== undefined) {
    throw new ConfigError([
      `${named}: expected a configuration file, got no such file; "switchyard init" writes switchyard.yaml`,
    ]);
  }
  return { source: ENVIRONMENT, text: "" };
}

/** The absolute path of the file that was found; null without one. */
export function absolutePathOf(source: string): string | null {
  return source === ENVIRONMENT ? null : resolve(source);
}

/**
 * Reads the file that was found before, also if another one appeared since.
 *
 * @throws {ConfigError} If the file does not exist any more, or cannot be read.
 */
export function readConfigFileAgain(source: string, options: LoadOptions): ConfigText {
  return source === ENVIRONMENT ? { source, text: "" } : readConfigFile({ ...options, path: source });
}

function textOf(path: string): string | null {
  try {
    return new TextDecoder("utf-8", { fatal: true }).decode(Deno.readFileSync(path));
  } catch (error) {
    if (error instanceof Deno.errors.NotFound) return null;
    if (error instanceof TypeError) throw new ConfigError([`${path}: expected UTF-8 text, got other bytes`]);
    if (error instanceof Deno.errors.IsADirectory) {
      throw new ConfigError([`${path}: expected a configuration file, got a folder`]);
    }
    const kind = error instanceof Error ? error.name : "an unknown failure";
    throw new ConfigError([`${path}: expected a readable file, got ${kind}`]);
  }
}
