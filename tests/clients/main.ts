import { parseArgs } from "node:util";
import { PROGRAMS } from "./all.ts";
import { openCache } from "./install.ts";
import {
  BATCH_CLIENTS,
  batchDifferences,
  batchTableOf,
  readBatchResult,
  tryBatches,
  writeBatchResult,
} from "./batches.ts";
import { tableOf, writeTable } from "./table.ts";
import { differences, type ProgramResult, readResult, writeResult } from "./results.ts";
import { tryProgram } from "./try_program.ts";
import { startClientsGateway } from "./gateway.ts";

const { values: options } = parseArgs({
  args: Deno.args,
  options: {
    only: { type: "string", multiple: true, default: [] },
    fast: { type: "boolean", default: false },
    check: { type: "boolean", default: false },
    table: { type: "boolean", default: false },
    "keep-logs": { type: "boolean", default: false },
    jobs: { type: "string", default: "2" },
  },
});

const wanted = options.only.map((name) => name.toLowerCase());
const chosen = PROGRAMS.filter(({ name, fast }) =>
  (wanted.length === 0 || wanted.some((part) => name.toLowerCase().includes(part))) && (fast || !options.fast)
);
const chosenBatches = BATCH_CLIENTS.filter(({ name }) =>
  wanted.length === 0 || wanted.some((part) => name.toLowerCase().includes(part))
);
if (chosen.length + chosenBatches.length === 0) {
  const names = [...PROGRAMS, ...BATCH_CLIENTS].map(({ name }) => name);
  console.error(`No client is called that. There are: ${names.join("; ")}`);
  Deno.exit(2);
}

const problems = options.table ? [] : await tryAll();
if (!options.check) {
  const results = await Promise.all(PROGRAMS.map(({ name }) => readResult(name)));
  await writeTable("clients", tableOf(results.filter((result) => result !== null)));
  const ofBatches = await Promise.all(BATCH_CLIENTS.map(({ name }) => readBatchResult(name)));
  await writeTable("batches", batchTableOf(ofBatches.filter((result) => result !== null)));
}
for (const problem of problems) console.error(problem);
Deno.exit(problems.length === 0 ? 0 : 1);

function report(line: string): void {
  console.log(line);
}

/** Runs the chosen programs, several at a time; writes the results, or with `--check` compares them. */
async function tryAll(): Promise<string[]> {
  const cache = await openCache();
  const gateway = await startClientsGateway();
  const problems: string[] = [];
  const queue = [...chosen];
  const work = async () => {
    for (let program = queue.shift(); program; program = queue.shift()) {
      const result: ProgramResult = await tryProgram(program, {
        cache,
        gateway,
        keepsLogs: options["keep-logs"],
        report,
      });
      if (options.check) problems.push(...differences(await readResult(program.name), result));
      else await writeResult(result);
    }
  };
  await Promise.all(Array.from({ length: Math.max(1, Number(options.jobs) || 1) }, work));
  await gateway.stop();
  for (const result of await tryBatches(chosenBatches, { cache, report })) {
    if (options.check) problems.push(...batchDifferences(await readBatchResult(result.name), result));
    else await writeBatchResult(result);
  }
  return problems;
}
