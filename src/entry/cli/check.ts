import { counted } from "../../platform/lib/text/counted.ts";
import { readCaFile } from "../../config/ca_file.ts";
import type { Config } from "../../config/config.ts";
import { checkConfig } from "../../config/load_config.ts";
import { builtInIdsBeside } from "../../config/model_entries.ts";
import { ConfigError } from "../../config/tree/config_error.ts";
import { environmentOf } from "./environment.ts";
import { print, printError } from "./print.ts";
import { UsageError } from "./usage_error.ts";
import { parseOptions } from "./command_options.ts";

/**
 * Runs `config check [FILE]`, or `config check --config FILE`: reads a configuration and prints its problems.
 *
 * @returns The exit code: 0 if the gateway can start with the configuration, else 2.
 * @throws {UsageError} If an argument is not known.
 */
export async function checkCommand(args: readonly string[]): Promise<number> {
  const path = readPath(args);
  const { source, problems, config } = checkConfig({ path, env: environmentOf(path) });
  if (config === null) {
    printError(problems.join("\n"));
    return 2;
  }
  const unreadable = await problemOfCaFile(config);
  if (unreadable !== null) {
    printError(`${source}: ${unreadable}`);
    return 2;
  }
  const { providers, models, accounts } = config;
  const counts = [
    counted(Object.keys(providers).length, "provider"),
    counted(models.length, "model"),
    counted(accounts.length, "account"),
  ];
  print(`${source}: valid, with ${counts.join(", ")}`);
  const hidden = hiddenModels(config);
  if (hidden.length > 0) print(hiddenNote(source, hidden));
  return 0;
}

/** Why the gateway would not start with the file of roots; null if it would, or needs none. */
async function problemOfCaFile({ egress: { caFile } }: Config): Promise<string | null> {
  if (caFile === null) return null;
  try {
    await readCaFile(caFile);
    return null;
  } catch (error) {
    if (error instanceof ConfigError) return error.message;
    throw error;
  }
}

/** The built-in models of the providers that the section `models` leaves out. */
function hiddenModels({ providers, models, modelPatterns, builtInIds }: Config): string[] {
  if (builtInIds.length > 0) return [];
  const ids = builtInIdsBeside(new Set(models.map(({ id }) => id)), Object.keys(providers));
  return ids.filter((id) => !modelPatterns.some((pattern) => id.startsWith(pattern.id.slice(0, -1))));
}

function hiddenNote(source: string, hidden: readonly string[]): string {
  const [first = ""] = hidden;
  return `${source}: models leaves out ${hidden.length} built-in models of these providers, such as "${first}"; ` +
    '"catalog: built_in" adds them';
}

function readPath(args: readonly string[]): string | undefined {
  const options = { config: { type: "string" } } as const;
  const { values, positionals } = parseOptions("config check", args, { options, allowPositionals: true });
  const [subcommand, ...files] = positionals;
  if (subcommand !== "check") throw new UsageError('switchyard config: expected the subcommand "check"');
  const paths = values.config === undefined ? files : [...files, values.config];
  if (paths.length > 1) throw new UsageError("switchyard config check: expected one configuration file, got several");
  return paths[0];
}
