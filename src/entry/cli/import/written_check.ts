import { readConfig } from "../../../config/config.ts";
import { ConfigError } from "../../../config/tree/config_error.ts";

/** What the value of a variable is, where the reader of the gateway checks it. */
export type ValueKind = "address or secret" | "name" | "number" | "version" | "key file";

/** Values for the check of the written file. The first one is an address and, long enough, a key of its own. */
const PLACEHOLDERS: Readonly<Record<ValueKind, (variable: string) => string>> = {
  "address or secret": (variable) => `https://placeholder.example/${variable}`,
  name: () => "placeholder-name",
  number: () => "1",
  version: () => "2025-04-01-preview",
  "key file": () =>
    JSON.stringify({
      type: "service_account",
      client_email: "placeholder@placeholder.example",
      private_key: "-----BEGIN PRIVATE KEY-----",
    }),
};

/**
 * Reads a written file as a gateway would, with placeholders for its variables.
 *
 * @param variables The variables in the file, by their names.
 * @returns Its problems.
 */
export function problemsOf(yaml: string, variables: ReadonlyMap<string, ValueKind>): readonly string[] {
  const placeholderOf = (name: string) => {
    const kind = variables.get(name);
    return kind === undefined ? undefined : PLACEHOLDERS[kind](name);
  };
  try {
    readConfig(yaml, "switchyard.yaml", placeholderOf);
    return [];
  } catch (error) {
    if (error instanceof ConfigError) return error.problems;
    throw error;
  }
}
