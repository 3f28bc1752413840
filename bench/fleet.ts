/**
 * Measures 50,000 finished and 5,000 open video tasks in one store: the time of a restart, the cost of lists, polls and
 * the retention, memory and disk space.
 *
 *     deno run -A --unstable-kv bench/fleet.ts [FINISHED] [OPEN]   # about a quarter of an hour
 */
import { fileURLToPath } from "node:url";
import { run, startServer } from "./child.ts";
import type { FleetBuilt, FleetPlan } from "./fleet_build.ts";
import { MODELS, PROVIDER } from "./fleet_engine.ts";
import type { FleetFigures, FleetMeasurement } from "./fleet_measure.ts";
import { figure, mebibytes, percent, table } from "./markdown.ts";
import { startVendor } from "./polls.ts";
import { processState } from "./process_state.ts";

/** The figures of a gateway that starts over a store. */
export interface RestartFigures {
  /** Milliseconds from the start of the process until it listens. */
  readonly listensMs: number;
  /** Milliseconds until the first poll of a task. */
  readonly firstPollMs: number;
  readonly residentBytes: number;
}

/** All figures. */
export interface FleetReport {
  readonly finished: number;
  readonly open: number;
  readonly built: FleetBuilt;
  readonly restart: RestartFigures;
  /** The same with only open tasks. */
  readonly restartOfOpen: RestartFigures;
  /** Bytes of the store's file for each finished task. */
  readonly storedBytes: number;
  readonly figures: FleetFigures;
}

/** The run time of a gateway before its memory is measured. */
const SETTLE_MS = 20_000;
const PROGRAM_MS = 1_800_000;
const sleep = (ms: number) => new Promise((resolve) => setTimeout(resolve, ms));

/** Builds the stores and measures. */
export async function benchFleet(finished = 50_000, open = 5_000): Promise<FleetReport> {
  const folder = await Deno.makeTempDir();
  const endsAt = Date.now();
  const [whole, alone] = [`${folder}/whole`, `${folder}/alone`];
  await Promise.all([whole, alone].map((path) => Deno.mkdir(path)));
  await runProgram<FleetPlan, FleetBuilt>("fleet_build.ts", { folder: alone, finished: 0, open, endsAt });
  const built = await runProgram<FleetPlan, FleetBuilt>("fleet_build.ts", { folder: whole, finished, open, endsAt });
  const report = await measureFleet({ whole, alone, finished, open, built });
  await Deno.remove(folder, { recursive: true });
  return report;
}

/** Stores that were built. */
export interface FleetStores extends Pick<FleetReport, "finished" | "open" | "built"> {
  /** The folder with all tasks. The other folder has only the open ones. The retention cleans the first. */
  readonly whole: string;
  readonly alone: string;
}

/** Measures stores that were built. */
export async function measureFleet({ whole, alone, ...about }: FleetStores): Promise<FleetReport> {
  const storedBytes = (await storeBytes(whole) - await storeBytes(alone)) / about.finished;
  const restartOfOpen = await restartOver(alone);
  const restart = await restartOver(whole);
  const measurement = { folder: whole, at: Date.now() };
  const figures = await runProgram<FleetMeasurement, FleetFigures>("fleet_measure.ts", measurement);
  return { ...about, storedBytes, restart, restartOfOpen, figures };
}

async function runProgram<Given, Told>(name: string, given: Given): Promise<Told> {
  const program = fileURLToPath(new URL(name, import.meta.url));
  const command = [Deno.execPath(), "run", "--quiet", "--no-check", "-A", "--unstable-kv", program];
  return JSON.parse(await run([...command, JSON.stringify(given)], { timeoutMs: PROGRAM_MS }));
}

async function storeBytes(folder: string): Promise<number> {
  return (await Deno.stat(`${folder}/store.db`)).size;
}

/** The section of the report. */
export function writeFleetReport(report: FleetReport): string {
  const { finished, open, built, restart, restartOfOpen, storedBytes, figures: { lists, polls, retention } } = report;
  const ms = (value: number) => `${figure(value)} ms`;
  const gateway = table(
    ["restart", `over ${figure(finished)} and ${figure(open)}`, `over ${figure(open)} open`],
    [
      ["listens after", ms(restart.listensMs), ms(restartOfOpen.listensMs)],
      ["first poll of an open task after", ms(restart.firstPollMs), ms(restartOfOpen.firstPollMs)],
      [
        `resident MiB, ${SETTLE_MS / 1_000} s later`,
        mebibytes(restart.residentBytes),
        mebibytes(restartOfOpen.residentBytes),
      ],
    ],
  );
  const pages = lists.map(({ what, tasks, ms, scans, entries, values }) => [
    what,
    figure(tasks),
    figure(ms, 1),
    figure(scans),
    figure(entries),
    figure(values),
  ]);
  const vendors = polls.map((one) => [
    one.isListed ? "many jobs per request" : "one job per request",
    figure(one.perSecond, 1),
    figure(one.maxPerSecond),
    `${figure(one.maxGapSeconds)} s`,
    percent(one.cpuShare),
    figure(one.longestTurnMs, 1),
  ]);
  const clean = retention.map((one) => [
    one.what,
    figure(one.removed),
    figure(one.left),
    figure(one.steps),
    figure(one.seconds, 1),
    figure(one.cpuSeconds, 1),
    figure(one.longestTurnMs, 1),
  ]);
  return `${figure(finished)} finished and ${figure(open)} open tasks of one caller, written by the engine
(${
    figure(built.endedPerSecond)
  } a second, from the create to the copied result, with a vendor and a receiver in the same process).
A finished task takes ${figure(storedBytes)} bytes of the store's file, including its ledger entries, its index entries
and, for every tenth, its webhook. "Longest turn" is the longest turn of the event loop, in ms of processor time.

${gateway}

Pages of 100, newest first:

${table(["list", "tasks", "ms", "scans", "entries", "records"], pages)}

Ten minutes of polls for the ${figure(open)} open tasks with a simulated clock and no network:

${
    table(
      ["vendor", "requests a second", "at most", "longest time between two polls", "of a core", "longest turn"],
      vendors,
    )
  }

Retention, without the pauses between its steps:

${table(["part", "removed", "left", "steps", "seconds", "core seconds", "longest turn"], clean)}`;
}

async function restartOver(folder: string): Promise<RestartFigures> {
  const vendor = await startVendor();
  const config = `${folder}/switchyard.json`;
  await Deno.writeTextFile(config, JSON.stringify(configOf(folder, vendor.address)));
  const main = fileURLToPath(new URL("../main.ts", import.meta.url));
  const begun = performance.now();
  const gateway = await startServer({
    name: "Switchyard",
    command: [Deno.execPath(), "run", "--quiet", "--no-check", "-A", main, "serve", "--config", config],
    logPath: `${folder}/gateway.log`,
    core: null,
  });
  const listensMs = performance.now() - begun;
  while ((await vendor.counts()).single === 0) await sleep(5);
  const firstPollMs = performance.now() - begun;
  await sleep(SETTLE_MS);
  const residentBytes = (await processState(gateway.pid))?.residentBytes ?? NaN;
  await gateway.stop();
  await vendor.stop();
  return { listensMs, firstPollMs, residentBytes };
}

function configOf(folder: string, vendor: string): unknown {
  return {
    server: { host: "127.0.0.1", port: 0, isolates: 1, shutdown_grace: 1 },
    store: `kv:${folder}/store.db`,
    files: `${folder}/files`,
    retention: { files: null }, // nothing is due yet
    providers: { [PROVIDER]: { kind: "xai", base_url: `${vendor}/v1`, api_key: "bench" } },
    models: MODELS.map((id) => ({
      id,
      video: { modes: ["text2video"], price_per_second: { default: "0.0001" } },
      serves: [{ provider: PROVIDER }],
    })),
  };
}

if (import.meta.main) {
  const [finished, open] = Deno.args.map(Number);
  console.log(writeFleetReport(await benchFleet(finished || undefined, open || undefined)));
}
