import { parseArgs } from "node:util";
import { checkConfig } from "../config/load_config.ts";
import { print } from "./print.ts";
import { UsageError } from "./usage_error.ts";

/** `config check [FILE]`: exit code 0 when the configuration can be started with, else 2. */
export function checkCommand(args: readonly string[]): number {
  const { positionals } = parseArgs({ args: [...args], allowPositionals: true });
  const [verb, path] = positionals;
  if (verb !== "check") throw new UsageError('switchyard config: expected "check"');
  const { source, problems, config } = checkConfig({ path, env: (name) => Deno.env.get(name) });
  if (config === null) {
    console.error(problems.join("\n"));
    return 2;
  }
  const { providers, models, accounts } = config;
  print(
    `${source}: fine, with ${
      Object.keys(providers).length
    } providers, ${models.length} models, ${accounts.length} accounts`,
  );
  return 0;
}
