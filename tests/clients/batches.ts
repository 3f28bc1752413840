import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { familyModels } from "../../src/config/dev_models.ts";
import { BATCH_FAMILIES, batchConfig, checkBatchCaller } from "../e2e/batch_check.ts";
import type { BatchCaller, BatchedReply } from "../e2e/batch_callers.ts";
import { startFamilyGateway } from "../e2e/family_gateway.ts";
import { PRICING } from "../support/gateway.ts";
import { alignedTable, wrappedParagraph } from "../support/markdown.ts";
import { type Cache, pythonBin } from "./install.ts";
import { packagesOf } from "./python_clients.ts";
import { type Cell, fileNameOf } from "./results.ts";
import { runProgram } from "./session.ts";

const PROGRAMS_FOLDER = fileURLToPath(new URL("./python/", import.meta.url));
const RESULTS = new URL("./results/batches/", import.meta.url);

/** A package with functions for files and batches, as the table shows it. */
export interface BatchClient {
  readonly name: string;
  /** The file of the program, without its extension. */
  readonly file: string;
  /** The name in the program. */
  readonly row: string;
  /** The program whose virtual environment has the package. */
  readonly environment: string;
  readonly package: string;
}

/** The packages of Python, in the order of the table. */
export const BATCH_CLIENTS: readonly BatchClient[] = [
  {
    name: "openai (Python): files, uploads, batches",
    file: "openai_batches",
    row: "batches",
    environment: "openai_sdk",
    package: "openai",
  },
  {
    name: "anthropic (Python): files, messages.batches",
    file: "anthropic_batches",
    row: "batches",
    environment: "anthropic_sdk",
    package: "anthropic",
  },
  {
    name: "google-genai (Python): files, batches of a file",
    file: "google_batches",
    row: "batches of a file",
    environment: "google_sdk",
    package: "google-genai",
  },
  {
    name: "google-genai (Python): batches of a list",
    file: "google_batches",
    row: "batches of a list",
    environment: "google_sdk",
    package: "google-genai",
  },
];

/** What a package does with each kind of vendor. */
export interface BatchResult {
  readonly name: string;
  readonly version: string;
  /** Why nothing was run; null where it was. */
  readonly notRun: string | null;
  /** By the name of the family. */
  readonly families: Readonly<Record<string, Cell>>;
}

/** What a run of the packages needs. */
export interface BatchContext {
  readonly cache: Cache;
  /** Called with each cell as it is found. */
  readonly report: (line: string) => void;
}

/** Installs packages, and runs them with a model of each kind of vendor. */
export async function tryBatches(clients: readonly BatchClient[], context: BatchContext): Promise<BatchResult[]> {
  if (clients.length === 0) return [];
  const folder = await Deno.makeTempDir();
  const { vendors, gateway } = await startFamilyGateway(familyModels(PRICING), batchConfig(folder));
  const results: BatchResult[] = [];
  for (const client of clients) {
    const { name, environment } = client;
    const packages = packagesOf(environment);
    const version = packages[client.package] ?? "";
    try {
      await context.cache.python(environment, Object.entries(packages).map((each) => each.join("==")));
    } catch (error) {
      context.report(`${name}: cannot be installed: ${error}`);
      results.push({ name, version, notRun: firstLine(error), families: {} });
      continue;
    }
    const families: Record<string, Cell> = {};
    for (const { name: family, model } of BATCH_FAMILIES) {
      const caller = callerOf(client, context.cache);
      families[family] = await checkBatchCaller({ caller, gateway, folder, model }).then(
        () => "yes",
        (error) => `no: ${firstLine(error)}`,
      );
      context.report(`${name}, ${family}: ${families[family]}`);
    }
    results.push({ name, version, notRun: null, families });
  }
  await gateway.stop();
  await vendors.stop();
  await Deno.remove(folder, { recursive: true });
  return results;
}

function callerOf({ name, file, row, environment }: BatchClient, cache: Cache): BatchCaller {
  return {
    name,
    async run({ address, key, folder, model }, questions) {
      const home = await Deno.makeTempDir();
      const input = JSON.stringify({ row, address, key, model, folder, questions: Object.fromEntries(questions) });
      const command = [join(pythonBin(cache, environment), "python"), "-B", join(PROGRAMS_FOLDER, `${file}.py`)];
      const { stdout, stderr } = await runProgram(command, { home, work: home, cache, input });
      await Deno.remove(home, { recursive: true });
      const { replies, error }: { readonly replies?: BatchedReply[]; readonly error?: string } = JSON.parse(
        stdout === "" ? JSON.stringify({ error: stderr.trim().split("\n").at(-1) }) : stdout,
      );
      if (replies === undefined) throw new Error(error?.replaceAll(address, ""));
      return replies;
    },
  };
}

function firstLine(error: unknown): string {
  const [line = ""] = (error instanceof Error ? error.message : String(error)).split("\n");
  return line.slice(0, 240);
}

/** Writes a result to its file; the table is made from these files. */
export async function writeBatchResult(result: BatchResult): Promise<void> {
  await Deno.mkdir(RESULTS, { recursive: true });
  await Deno.writeTextFile(fileOf(result.name), JSON.stringify(result, null, 2) + "\n");
}

/** Reads the stored result of a package; null where there is none. */
export async function readBatchResult(name: string): Promise<BatchResult | null> {
  const text = await Deno.readTextFile(fileOf(name)).catch(() => null);
  return text === null ? null : JSON.parse(text);
}

function fileOf(name: string): URL {
  return new URL(`${fileNameOf(name)}.json`, RESULTS);
}

/** The differences between a run and the stored result, a line for each. */
export function batchDifferences(kept: BatchResult | null, found: BatchResult): string[] {
  if (kept === null) return [`${found.name}: nothing is kept`];
  if (found.notRun !== null) return kept.notRun === null ? [`${found.name}: not run: ${found.notRun}`] : [];
  return BATCH_FAMILIES.flatMap(({ name }) => {
    const [was = "nothing", is = "nothing"] = [kept.families[name], found.families[name]];
    return was.split(":")[0] === is.split(":")[0] ? [] : [`${found.name}, ${name}: kept "${was}", found "${is}"`];
  });
}

/** The table of the packages, with the reasons of what is not `yes`. */
export function batchTableOf(results: readonly BatchResult[]): string {
  const notes: string[] = [];
  const cellOf = ({ notRun, families }: BatchResult, family: string) => {
    const cell = families[family] ?? "nothing";
    if (cell === "yes") return "yes";
    const note = notRun === null ? cell.replace("no: ", "") : `Not run: ${notRun}`;
    if (!notes.includes(note)) notes.push(note);
    return `${notRun === null ? "no" : "not run"} (${notes.indexOf(note) + 1})`;
  };
  const names = BATCH_FAMILIES.map(({ name }) => name);
  const rows = results.map((result) => [result.name, result.version, ...names.map((name) => cellOf(result, name))]);
  const table = alignedTable([["Client", "Version", ...names], ...rows]);
  const lines = notes.flatMap((note, place) => wrappedParagraph(note, `${place + 1}. `));
  return [table, ...(lines.length === 0 ? [] : [lines])].map((block) => block.join("\n")).join("\n\n");
}
