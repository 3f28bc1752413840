import { bundledFile, IS_BUNDLED } from "../../platform/lib/process/program_files.ts";
import { parseOptions } from "./command_options.ts";
import { print } from "./print.ts";

/** The file with the schema of configuration files that a bundle of the gateway contains. */
export const SCHEMA_FILE = "switchyard.schema.json";

/** The schema of configuration files as text: JSON. */
export async function readConfigSchema(): Promise<string> {
  const source = IS_BUNDLED ? bundledFile(SCHEMA_FILE) : new URL(`../../../docs/${SCHEMA_FILE}`, import.meta.url);
  return await Deno.readTextFile(source);
}

/** Runs `config schema`: prints a JSON Schema of configuration files, by which editors complete and check them. */
export async function configSchemaCommand(args: readonly string[]): Promise<number> {
  parseOptions("config schema", args, { options: {} });
  print((await readConfigSchema()).trimEnd());
  return 0;
}
