import { loadConfig } from "../../../config/load_config.ts";
import { storeAddressOf } from "../../../config/tree/store_address.ts";
import { environmentOf } from "../environment.ts";
import { print } from "../print.ts";
import { UsageError } from "../usage_error.ts";
import { parseOptions } from "../command_options.ts";

/**
 * Runs `store migrate [--config FILE]`, which adds to the tables of a PostgreSQL database what this version needs, or
 * `store copy`.
 *
 * @returns The exit code.
 */
export async function storeCommand([subcommand, ...rest]: readonly string[]): Promise<number> {
  if (subcommand === "copy") return await (await import("./store_copy.ts")).storeCopyCommand(rest);
  if (subcommand !== "migrate") throw new UsageError("switchyard store: expected the subcommand migrate or copy");
  const address = storeAddressOf(
    loadConfig({ path: configPathIn(rest), env: environmentOf(configPathIn(rest)) }).store,
  );
  if (address.engine !== "postgres") {
    print("There is nothing to migrate: a store in a file is migrated by the start of the gateway");
    return 0;
  }
  const { migrateDatabase } = await import("../../../platform/store/postgres/migrate.ts");
  const { from, to } = await migrateDatabase(address.url);
  print(from === to ? `The schema is ${to}, as this version needs it` : `The schema was ${from} and is ${to} now`);
  return 0;
}

function configPathIn(args: readonly string[]): string | undefined {
  return parseOptions("store migrate", args, { options: { config: { type: "string" } } }).values.config;
}
