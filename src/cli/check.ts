import { parseArgs } from "node:util";
import { checkConfig } from "../config/load_config.ts";
import { print } from "./print.ts";
import { UsageError } from "./usage_error.ts";

/**
 * Runs `config check [FILE]`: reads a configuration and prints its problems.
 *
 * @returns The exit code: 0 if the gateway can start with the configuration, else 2.
 */
export function checkCommand(args: readonly string[]): number {
  const { positionals } = parseArgs({ args: [...args], allowPositionals: true });
  const [subcommand, path] = positionals;
  if (subcommand !== "check") throw new UsageError('switchyard config: expected the subcommand "check"');
  const { source, problems, config } = checkConfig({ path, env: (name) => Deno.env.get(name) });
  if (config === null) {
    console.error(problems.join("\n"));
    return 2;
  }
  const { providers, models, accounts } = config;
  const providerCount = Object.keys(providers).length;
  print(`${source}: valid, with ${providerCount} providers, ${models.length} models, ${accounts.length} accounts`);
  return 0;
}
