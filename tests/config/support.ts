import { ConfigError } from "../../src/config/tree/config_error.ts";
import type { Environment } from "../../src/config/tree/expansion.ts";
import { type Config, readConfig } from "../../src/config/config.ts";

/** An environment of just these names. */
export function environmentOf(values: Record<string, string> = {}): Environment {
  return (name) => Object.hasOwn(values, name) ? values[name] : undefined;
}

/** A configuration read from text that is called `switchyard.yaml`. */
export function configOf(text: string, values: Record<string, string> = {}): Config {
  return readConfig(text, "switchyard.yaml", environmentOf(values));
}

/** The problems of a text, none when it can be read. */
export function problemsOf(text: string, values: Record<string, string> = {}): readonly string[] {
  try {
    configOf(text, values);
    return [];
  } catch (error) {
    if (error instanceof ConfigError) return error.problems;
    throw error;
  }
}
