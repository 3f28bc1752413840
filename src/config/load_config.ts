import { type Config, readConfig } from "./config.ts";
import { ConfigError } from "./config_error.ts";
import type { Environment } from "./expansion.ts";

/** Where a configuration is looked for. */
export interface LoadOptions {
  /**
   * The file that the operator names. Default: `SWITCHYARD_CONFIG`, else the first of {@linkcode DEFAULT_FILE_NAMES}
   * that exists.
   */
  readonly path?: string;
  /** Where names are looked up. */
  readonly env: Environment;
  /** Gives a file's text, or null when there is none. Default: from the disk. */
  readonly readFile?: (path: string) => string | null;
}

/** The outcome of a check. */
export interface ConfigCheck {
  /** The file that was read, or `environment` when there is none. */
  readonly source: string;
  /** One line each; empty when all is well. */
  readonly problems: readonly string[];
  /** Null when there are problems. */
  readonly config: Config | null;
}

/** Looked for in the working directory, in this order. */
const DEFAULT_FILE_NAMES = ["switchyard.yaml", "switchyard.yml", "switchyard.json"];

const LARGEST_FILE = 4_000_000;

/**
 * The configuration to start with. Without any file, all of it comes from the environment.
 *
 * @throws {ConfigError} With every mistake at once.
 */
export function loadConfig(options: LoadOptions): Config {
  const { source, text } = sourceOf(options);
  return readConfig(text, source, options.env);
}

/** Reads a configuration without starting anything. */
export function checkConfig(options: LoadOptions): ConfigCheck {
  let source = options.path ?? "environment";
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
    if (text.length > LARGEST_FILE) {
      throw new ConfigError([`${source}: expected at most ${LARGEST_FILE} characters, got ${text.length}`]);
    }
    return { source, text };
  }
  if (named !== undefined) throw new ConfigError([`${named}: expected a configuration file, got no such file`]);
  return { source: "environment", text: "" };
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
