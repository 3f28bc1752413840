import { dirname, join } from "node:path";
import { parse } from "yaml";
import { PRIVATE_FILE_MODE } from "../../platform/lib/process/private_path.ts";
import { counted } from "../../platform/lib/text/counted.ts";
import { parseOptions } from "./command_options.ts";
import { syntaxProblemOf } from "../../config/tree/syntax_problem.ts";
import { asUnwritableError } from "../../platform/lib/process/unwritable.ts";
import { importBifrost } from "./import/bifrost.ts";
import type { ImportResult } from "./import/imported_config.ts";
import { importLitellm } from "./import/litellm.ts";
import { importOpenrouterModels } from "./import/openrouter_models.ts";
import { importPriceMap } from "./import/price_map.ts";
import { print, printError } from "./print.ts";
import { fileExists } from "./store/stopped_store.ts";
import { UsageError } from "./usage_error.ts";
import { ownValue } from "../../platform/lib/collections/own_value.ts";

/** What each word after `import` reads. */
const SOURCES: Readonly<Record<string, (source: unknown, name: string) => ImportResult>> = {
  litellm: importLitellm,
  bifrost: importBifrost,
  "openrouter-models": importOpenrouterModels,
};

const MAX_FILE_BYTES = 64 * 1024 * 1024;

/**
 * Runs `import litellm|bifrost|openrouter-models FILE [--output FILE] [--env-file FILE]`: writes a configuration from
 * that of another program, and prints what could not be carried.
 *
 * @returns The exit code: 1 if the written file must be changed by hand before a gateway can start with it, and if
 * nothing was written, since a gateway would offer its built-in models in the place of none.
 */
export async function importCommand(args: readonly string[]): Promise<number> {
  const { values, positionals } = parsed(args, "import");
  const [kind = "", file = "", ...more] = positionals;
  const read = ownValue(SOURCES, kind);
  if (read === undefined || file === "" || more.length > 0 || values.providers !== undefined) {
    throw new UsageError(`switchyard import: expected one of ${Object.keys(SOURCES).join(", ")}, and a file`);
  }
  return await importFile({ file, read, output: values.output ?? "switchyard.yaml", envFile: values["env-file"] });
}

/**
 * Runs `models import FILE [--providers LIST] [--output FILE]`: writes models with prices from a price map in LiteLLM's
 * format.
 *
 * @returns The exit code, as {@linkcode importCommand}.
 */
export async function modelsCommand(args: readonly string[]): Promise<number> {
  const { values, positionals } = parsed(args, "models");
  const [subcommand, file = "", ...more] = positionals;
  if (subcommand !== "import" || file === "" || more.length > 0 || values["env-file"] !== undefined) {
    throw new UsageError('switchyard models: expected "import" and a file with prices');
  }
  const only = values.providers === undefined ? null : new Set(values.providers.split(","));
  const read = (source: unknown, name: string) => importPriceMap(source, name, only);
  return await importFile({ file, read, output: values.output ?? "models.yaml", envFile: undefined });
}

interface Import {
  readonly file: string;
  readonly read: (source: unknown, name: string) => ImportResult;
  readonly output: string;
  /** Default: `.env` beside the output. */
  readonly envFile: string | undefined;
}

async function importFile({ file, read, output, envFile = join(dirname(output), ".env") }: Import): Promise<number> {
  const result = read(await sourceIn(file), file.replace(/^.*[\\/]/, ""));
  const { hasModels, yaml, secrets, carried, dropped, problems } = result;
  const report = dropped.length === 0 ? "" : `Not carried:\n${dropped.map((line) => `  ${oneLine(line)}`).join("\n")}`;
  if (!hasModels) {
    if (report !== "") print(report);
    printError(`switchyard: Nothing was written, because no model of "${file}" can be carried`);
    return 1;
  }
  const written = secrets.size > 0 ? [output, envFile] : [output];
  for (const path of written) {
    if (await fileExists(path)) throw new UsageError(`switchyard: the file "${path}" exists already`);
  }
  await writeNew(output, yaml);
  if (secrets.size > 0) await writeNew(envFile, environmentText(secrets));
  print(`Wrote ${output} with ${carried}`);
  if (secrets.size > 0) {
    print(
      `Wrote ${envFile} with ${counted(secrets.size, "secret")}, readable only by its owner: ${
        [...secrets.keys()].join(", ")
      }`,
    );
  }
  if (report !== "") print(report);
  if (problems.length === 0) return 0;
  printError(`The file must be changed before a gateway can start with it:\n${problems.map(oneLine).join("\n")}`);
  return 1;
}

/** Names of the source are quoted, and must not look like lines of this program. */
function oneLine(text: string): string {
  return text.replaceAll("\n", "\\n");
}

/** Reads YAML, of which JSON is a part. Messages of the parser would quote the file. */
async function sourceIn(file: string): Promise<unknown> {
  let text: string;
  try {
    if ((await Deno.stat(file)).size > MAX_FILE_BYTES) {
      throw new UsageError(`switchyard: the file "${file}" is too large`);
    }
    text = await Deno.readTextFile(file);
  } catch (error) {
    if (error instanceof Deno.errors.NotFound) throw new UsageError(`switchyard: there is no file "${file}"`);
    throw error;
  }
  try {
    return JSON.parse(text);
  } catch { /* it is YAML */ }
  try {
    // As PyYAML reads it: with merge keys, numbers such as 20_000, and the last one of two equal keys.
    return parse(text, { version: "1.1", uniqueKeys: false, maxAliasCount: 1_000, logLevel: "error" });
  } catch (error) {
    const problem = syntaxProblemOf(error, file, text) ?? `the file "${file}" is neither YAML nor JSON`;
    throw new UsageError(`switchyard: ${problem}`);
  }
}

async function writeNew(path: string, text: string): Promise<void> {
  try {
    await Deno.writeTextFile(path, text, { createNew: true, mode: PRIVATE_FILE_MODE });
  } catch (error) {
    throw asUnwritableError(null, path, error);
  }
}

/** Lines for a shell, `. ./.env`, and for the programs that read such files. */
function environmentText(secrets: ReadonlyMap<string, string>): string {
  return [...secrets].map(([name, value]) => `${name}='${value.replaceAll("'", `'\\''`)}'\n`).join("");
}

function parsed(args: readonly string[], command: string) {
  const text = { type: "string" } as const;
  const options = { output: text, "env-file": text, providers: text };
  return parseOptions(command, args, { options, allowPositionals: true });
}
