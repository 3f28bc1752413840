import { assert, assertEquals, assertLessOrEqual } from "@std/assert";
import { systemClock } from "../../src/platform/lib/basics/clock.ts";
import { silentLog } from "../../src/platform/lib/basics/log.ts";
import { openKvStore } from "../../src/platform/store/kv/open_kv_store.ts";
import { configOf } from "../e2e/kills/config.ts";
import { assertMoneyExact, startKillStage } from "../e2e/kills/kill_stage.ts";
import { Load } from "../e2e/kills/load.ts";
import { settledTasks } from "../e2e/kills/video_laws.ts";
import { VideoLoad } from "../e2e/kills/video_load.ts";
import { SeededRandom } from "../e2e/money_walk/random.ts";
import { startGatewayProcess } from "../support/gateway_process.ts";
import { itemAt } from "../support/items.ts";
import { LeavingCallers } from "./leaving_callers.ts";
import { Operators } from "./operators.ts";
import { medianOf, type ProcessFigures, processFigures } from "./process_figures.ts";

/** How long each number of threads is under load. Set by the task, as the test takes twice that. */
const SECONDS = Number(Deno.env.get("SWITCHYARD_SOAK_SECONDS") ?? Deno.env.get("SWITCHYARD_TEST_SOAK") ?? "0");
const SEED = Number(Deno.env.get("SWITCHYARD_TEST_SEED") ?? Math.floor(Math.random() * 2 ** 31));
const CALLERS = 24;
/** Parts of the run. Memory is compared between the middle and the end. */
const PARTS = 6;
/** What a later part may have above an earlier one: caches that fill, and the garbage of a moment. */
const MAX_GROWTH = 1.25;
const MAX_GROWTH_BYTES = 64 * 1024 * 1024;
/** Shorter runs end before the process has all that it keeps. */
const MIN_LEVEL_SECONDS = 300;
const MAX_DESCRIPTORS_LEFT = 64;
/** An idle gateway uses a few percent of a core; one that spins uses all of it. */
const MAX_IDLE_TICKS = 150;
const IDLE_MS = 3_000;

const title = (isolates: number) =>
  `soak with ${isolates} thread${
    isolates === 1 ? "" : "s"
  }: the process neither ends nor spins, memory and descriptors ` +
  `level off, and money is exact (seed ${SEED})`;

for (const isolates of [1, 2]) {
  Deno.test({
    name: SECONDS > 0 ? title(isolates) : `${title(isolates)}; runs in deno task test:soak`,
    ignore: SECONDS === 0 || Deno.build.os !== "linux",
    fn: () => soak(isolates),
  });
}

async function soak(isolates: number): Promise<void> {
  const random = new SeededRandom(SEED);
  const stage = await startKillStage();
  const { sandbox, receiver, folder, key, adminKey, facts, acknowledged } = stage;
  const config = `${folder}/soak.json`;
  await Deno.writeTextFile(config, JSON.stringify(soakConfig(stage, isolates)));
  const child = startGatewayProcess({ args: ["serve", "--config", config], folder });
  let hasEnded = false;
  const ended = child.ended.then((status) => {
    hasEnded = true;
    return status;
  });
  const address = itemAt(await child.until(/is ready at (\S+)/), 1);
  const port = Number(new URL(address).port);

  const operators = new Operators({ address, adminKey, account: "soak" }, random);
  await operators.prepare();
  const idle = await processFigures(child.pid);
  const target = { address, key, adminKey, callbackUrl: receiver.url };
  const load = new Load(target, acknowledged);
  const videos = new VideoLoad(target, facts, random, () => {});
  const callers = new LeavingCallers(() => ({ port, key: operators.key() }), random);
  let numbered = 0;
  const running = Promise.all([load.run(), videos.run(() => ++numbered), callers.run(CALLERS), operators.run()]);
  running.catch(() => {}); // awaited below
  const parts: ProcessFigures[] = [];
  for (let part = 0; part < PARTS; part++) {
    parts.push(await figuresOfPart(child.pid, SECONDS / PARTS, () => hasEnded));
    assert(!hasEnded, `the process ended: ${child.log()}`);
  }
  for (const each of [load, videos, callers, operators]) each.stop();
  await running;

  const tasks = await settledTasks(target, facts);
  const after = await idleFigures(child.pid);
  const summary = JSON.stringify({
    isolates,
    seconds: SECONDS,
    callers: { ...callers.counts, statuses: Object.fromEntries(callers.counts.statuses) },
    videos: numbered,
    changes: operators.changes,
    parts: parts.map(({ residentBytes, descriptors }) => [Math.round(residentBytes / 2 ** 20), descriptors]),
    idle: [Math.round(idle.residentBytes / 2 ** 20), idle.descriptors],
    after,
  });
  console.log(summary);
  assertLessOrEqual(after.idleTicks, MAX_IDLE_TICKS, `an idle gateway uses no processor time: ${summary}`);
  assertLessOrEqual(after.descriptors, idle.descriptors + MAX_DESCRIPTORS_LEFT, `descriptors are closed: ${summary}`);
  if (SECONDS >= MIN_LEVEL_SECONDS) assertMemoryLevelsOff(parts.map(({ residentBytes }) => residentBytes), summary);
  assertEquals(unexpectedLogLines(child.log()), []);

  child.kill("SIGTERM");
  assertEquals((await ended).code, 0, child.log());
  const store = await openKvStore({ path: `${folder}/store.db`, clock: systemClock, log: silentLog });
  try {
    await assertMoneyExact(store, stage, tasks);
  } finally {
    await store.close();
  }
  await stage.stop();
  assert(sandbox.requests.length > 0);
}

/** Compares the end of the run with its middle, when caches and the compiled code are complete. */
function assertMemoryLevelsOff(residentBytes: readonly number[], summary: string): void {
  const middle = itemAt(residentBytes, PARTS / 2 - 1);
  const allowed = Math.max(MAX_GROWTH * middle, middle + MAX_GROWTH_BYTES);
  assertLessOrEqual(medianOf(residentBytes.slice(-2)), allowed, `memory levels off: ${summary}`);
}

/** The configuration of the kill tests, with models for callers that leave and an account of theirs. */
function soakConfig(stage: Awaited<ReturnType<typeof startKillStage>>, isolates: number): unknown {
  const { sandbox, folder, key, adminKey } = stage;
  // deno-lint-ignore no-explicit-any
  const config: any = configOf(sandbox.baseUrls, { folder, key, adminKey, durability: "process", isolates });
  const pricing = { prompt: "0.000001", completion: "0.000002" };
  const own = (id: string, provider: string, more: object = {}) => ({
    id: `soak/${id}`,
    pricing,
    serves: [{ provider, model: id }],
    ...more,
  });
  const api_key = "sandbox-key";
  return {
    ...config,
    accounts: [...config.accounts, { id: "soak", balance: "1000000" }],
    providers: {
      ...config.providers,
      openai: { kind: "openai", base_url: sandbox.baseUrls.openai, api_key, speaks: "both", quirks: [] },
    },
    models: [
      ...config.models,
      own("chat", "openai"),
      own("content", "google"),
      own("embedding", "openai", { embedding: {}, pricing: { prompt: "0.000001" } }),
      own("speech", "openai", { speech: {}, pricing: { request: "0.001" } }),
    ],
  };
}

/** The medians of one part, in which the figures are read every half second. */
async function figuresOfPart(pid: number, seconds: number, isOver: () => boolean): Promise<ProcessFigures> {
  const samples: ProcessFigures[] = [];
  const end = performance.now() + seconds * 1_000;
  while (performance.now() < end && !isOver()) {
    samples.push(await processFigures(pid));
    await new Promise((resolve) => setTimeout(resolve, 500));
  }
  return {
    residentBytes: medianOf(samples.map(({ residentBytes }) => residentBytes)),
    descriptors: medianOf(samples.map(({ descriptors }) => descriptors)),
    cpuTicks: samples.at(-1)?.cpuTicks ?? 0,
  };
}

/** The figures when nothing is requested, and the processor time of some seconds. */
async function idleFigures(pid: number): Promise<{ idleTicks: number; descriptors: number; residentMiB: number }> {
  // Connections to vendors and callers close when they are idle for a while.
  await new Promise((resolve) => setTimeout(resolve, IDLE_MS));
  const before = await processFigures(pid);
  await new Promise((resolve) => setTimeout(resolve, IDLE_MS));
  const { cpuTicks, descriptors, residentBytes } = await processFigures(pid);
  return { idleTicks: cpuTicks - before.cpuTicks, descriptors, residentMiB: Math.round(residentBytes / 2 ** 20) };
}

/** Lines of the log that report a failure of the gateway itself. */
function unexpectedLogLines(log: string): string[] {
  const bad = /"(?:unhandled_rejection|unhandled_error|event_loop_stalled|isolate_ended|request_failed)"|Uncaught/;
  return log.split("\n").filter((line) => bad.test(line)).slice(0, 5);
}
