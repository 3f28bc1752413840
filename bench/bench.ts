import { type CaseId, type Scenario, type ScenarioId, SCENARIOS } from "./cases.ts";
import type { Server } from "./child.ts";
import { type Contender, type ContenderId, contendersOf, failureOf, translationsOf } from "./contenders.ts";
import { type ContestOptions, type Fields, isPeer, measure, runContest, unlessFaulty } from "./contest.ts";
import { type GatewayOptions, repliesCharged, startGateway } from "./gateway.ts";
import { measureGarbage } from "./garbage_run.ts";
import { type Generators, nativeGenerator, ownGenerator, withTally, wrkGenerator } from "./generator.ts";
import { SMALL_BODY_BYTES } from "./load_request.ts";
import { describeMachine } from "./machine.ts";
import {
  AFTER_LOAD_MS,
  IDLE_AFTER_MS,
  measuredServers,
  memoryOf,
  memoryUses,
  SMALL_GATEWAY_NAME,
} from "./memory_watch.ts";
import { compileNative } from "./native.ts";
import { measurePieces } from "./pieces.ts";
import { profileGateway } from "./profiling.ts";
import type { Outcome } from "./report/outcome.ts";
import { assignCores, newFolder, type RivalId, startServers } from "./servers.ts";
import { shuffled } from "./shuffled.ts";
import { GAP_STREAMS, gapAtManyOf, type StreamLimit, streamsSustained } from "./stream_steps.ts";

/** What a run measures, and for how long. */
export interface BenchOptions {
  /** Whole seconds of each run. */
  readonly seconds: number;
  readonly rounds: number;
  readonly cases: ReadonlySet<CaseId>;
  /** Loads of these cases that are left out. */
  readonly skipped: readonly ScenarioId[];
  readonly rivals: readonly RivalId[];
  /** Programs of peers that the operator supplied. */
  readonly binaries: ReadonlyMap<string, string>;
  /** Numbers of paced streams at once that are tried. */
  readonly steps: readonly number[];
  /** Whether memory is measured half a minute after the start and a minute after the load, instead of immediately. */
  readonly waitsForMemory: boolean;
}

/** Receives a line about the current step. */
type OnProgress = (line: string) => void;

/** Runs everything. It ends what it started and removes its files, also after a failure or a signal. */
export async function runBench(options: BenchOptions, tell: OnProgress): Promise<Outcome> {
  const folder = await Deno.makeTempDir({ prefix: "switchyard-bench-" });
  const running: Server[] = [];
  let tidied: Promise<void> | null = null;
  const tidyUp = () =>
    tidied ??= Promise.all(running.map((server) => server.stop())).then(() => Deno.remove(folder, { recursive: true }));
  const stop = () => void tidyUp().finally(() => Deno.exit(130));
  for (const signal of ["SIGINT", "SIGTERM"] as const) Deno.addSignalListener(signal, stop);
  try {
    return await outcomeOf(options, folder, running, tell);
  } finally {
    await tidyUp();
    for (const signal of ["SIGINT", "SIGTERM"] as const) Deno.removeSignalListener(signal, stop);
  }
}

async function outcomeOf(options: BenchOptions, folder: string, running: Server[], tell: OnProgress): Promise<Outcome> {
  const startedAt = Date.now();
  const { cases } = options;
  const machine = await describeMachine(folder);
  const cores = await assignCores();
  tell("compiling and starting the servers");
  const native = await compileNative(folder);
  const programs = typeof native === "string" ? null : native;
  const repliesByPort = new Map<number, number>();
  const generators = await generatorsOf(programs?.generator ?? null, { core: cores.load, folder }, repliesByPort);
  const { servers, gatewayOptions, remarks } = await startServers(
    { ...options, folder, cores, native: programs },
    running,
  );
  const watched = measuredServers(servers);
  const waitsForMemory = cases.has("memory") && options.waitsForMemory;
  if (waitsForMemory) tell("waiting for half a minute after the start, to measure memory");
  const idle = waitsForMemory
    ? await idleMemory(watched, { ...gatewayOptions, folder: await newFolder(folder, "small") }, running)
    : await pause(SETTLE_MS).then(() => memoryOf(watched));
  const fields: Fields = fieldsOf(contendersOf(servers), translationsOf(servers.gateway));
  const scenarios = SCENARIOS.filter(({ id, caseId }) => cases.has(caseId) && !options.skipped.includes(id));
  const faults = await faultsOf(scenarios.map(({ id }) => id), fields);
  const contest: ContestOptions = { ...options, generators, faults, onProgress: tell };
  await warmUp(scenarios, fields, contest);
  const figures = await runContest(scenarios, fields, contest);
  const limits = cases.has("streams") ? await limitsOf(fields.rivals, options.steps, contest) : new Map();
  const loadEndedAt = Date.now();
  const profiles = cases.has("profile")
    ? await profileGateway({ ...gatewayOptions, folder: await newFolder(folder, "profiled") }, servers, {
      seconds: options.seconds,
      generators,
    })
    : [];
  const pieces = cases.has("pieces")
    ? await measurePieces({ ...gatewayOptions, folder: await newFolder(folder, "scratch") }, contest)
    : [];
  const garbage = cases.has("garbage") ? await measureGarbage(GARBAGE) : null;
  if (waitsForMemory) {
    tell("waiting for a minute after the load, to measure memory");
    await pause(loadEndedAt + AFTER_LOAD_MS - Date.now());
  }
  const after = cases.has("memory") ? await memoryOf(watched) : new Map();
  return {
    machine,
    date: new Date(),
    minutes: (Date.now() - startedAt) / 60_000,
    rounds: options.rounds,
    seconds: options.seconds,
    cores,
    generators: { closed: generators.closed.name, timed: generators.timed.name },
    nativeFault: typeof native === "string" ? native : null,
    fields,
    scenarios,
    figures,
    limits,
    maxStreams: options.steps.at(-1) ?? 0,
    memory: cases.has("memory") ? memoryUses(idle, after) : [],
    isMemoryAfterMinute: options.waitsForMemory,
    charges: {
      counted: repliesByPort.get(servers.gateway.port) ?? 0,
      charged: await repliesCharged(servers.gateway),
    },
    remarks: [...remarks, ...faultRemarks(faults)],
    profiles,
    pieces,
    garbage,
  };
}

/** The memory of the servers half a minute after the start, and of a gateway with one provider, which then ends. */
async function idleMemory(
  watched: ReadonlyMap<string, Server>,
  gatewayOptions: GatewayOptions,
  running: Server[],
): ReturnType<typeof memoryOf> {
  const small = await startGateway({ ...gatewayOptions, hasOneProvider: true });
  running.push(small);
  await pause(IDLE_AFTER_MS);
  const idle = await memoryOf(new Map([...watched, [SMALL_GATEWAY_NAME, small]]));
  await small.stop();
  running.splice(running.indexOf(small), 1);
  return idle;
}

/** V8 has compiled almost all code by then. */
const GARBAGE = { warmUp: 20_000, count: 5_000, timeoutMs: 300_000 };

/** Time for a started server to come to rest. */
const SETTLE_MS = 3_000;

function pause(ms: number): Promise<void> {
  return new Promise((resolve) => setTimeout(resolve, Math.max(0, ms)));
}

async function generatorsOf(
  program: string | null,
  options: Parameters<typeof wrkGenerator>[0],
  repliesByPort: Map<number, number>,
): Promise<Generators> {
  const timed = program === null ? ownGenerator(options) : nativeGenerator(program, options);
  const closed = await wrkGenerator(options) ?? timed;
  return { closed: withTally(closed, repliesByPort), timed: withTally(timed, repliesByPort) };
}

function fieldsOf(rivals: readonly Contender[], translations: readonly Contender[]): Fields {
  return { rivals, directions: [...rivals.filter(({ id }) => id === "pass"), ...translations] };
}

/**
 * Sends each contender one request for each kind of load. Only peers may fail: without the others the run has no
 * meaning.
 */
async function faultsOf(scenarioIds: readonly ScenarioId[], fields: Fields): Promise<Map<string, string>> {
  const faults = new Map<string, string>();
  for (const { id, mode, bodyBytes, contenders } of SCENARIOS) {
    if (!scenarioIds.includes(id)) continue;
    for (const contender of fields[contenders]) {
      const fault = await failureOf(contender, mode, bodyBytes);
      if (fault === null) continue;
      if (!isPeer(contender.id)) {
        throw new Error(`Cannot measure "${contender.label}": it ${fault}`);
      }
      faults.set(`${contender.id}/${mode}`, fault);
    }
  }
  return faults;
}

/**
 * Loads that let every engine compile its hot code, one of each kind, and their seconds. V8 compiles the code of a
 * plain request for 10 to 15 seconds under load, which takes up to half of the core meanwhile.
 */
const WARMING_SECONDS: Readonly<Partial<Record<ScenarioId, number>>> = {
  json_32: 15,
  body_100k: 3,
  translate_json: 2,
  translate_burst: 2,
};

/** As many starts and chunks as some minutes of paced streams have. V8 still compiles some of their code until then. */
const STREAM_WARMING_SECONDS = 5;

/** Compiles the code of paced streams. */
const STREAM_WARMING = {
  mode: "burst",
  bodyBytes: SMALL_BODY_BYTES,
  connections: 16,
  load: { kind: "closed" },
  contenders: "rivals",
} as const;

/** Runs each kind of the selected loads before the measurement. Small JSON is part of all of them. */
async function warmUp(
  selected: readonly Scenario[],
  fields: Fields,
  options: ContestOptions,
): Promise<void> {
  options.onProgress("warming up");
  const kinds = SCENARIOS.filter((load) =>
    load.id in WARMING_SECONDS && (load.id === "json_32" || selected.includes(load))
  );
  const hasStreams = selected.some(({ id }) => id === "paced");
  for (const load of [...kinds, ...(hasStreams ? [STREAM_WARMING] : [])]) {
    for (const contender of fields[load.contenders]) {
      if (contender.id === "direct") continue;
      await unlessFaulty(
        contender,
        load.mode,
        options,
        () => measure(contender, load, { ...options, seconds: warmingSecondsOf(load, options.seconds) }),
      );
    }
  }
}

/** @param roundSeconds The length of a round. A short run warms up for less long. */
function warmingSecondsOf(load: Scenario | typeof STREAM_WARMING, roundSeconds: number): number {
  const seconds = "id" in load ? WARMING_SECONDS[load.id] ?? 1 : STREAM_WARMING_SECONDS;
  return Math.min(seconds, 5 * roundSeconds);
}

/** Turn after turn in another order. */
async function limitsOf(
  contenders: readonly Contender[],
  steps: readonly number[],
  options: ContestOptions,
): Promise<Map<ContenderId, StreamLimit>> {
  const limits = new Map<ContenderId, StreamLimit>();
  for (let turn = 1; turn <= options.rounds; turn++) {
    for (const contender of shuffled(contenders)) {
      // Without a proxy, only the limit of upstream and generator matters.
      const isDirect = contender.id === "direct";
      if (isDirect && turn > 1) continue;
      options.onProgress(`streams at once: turn ${turn} of ${options.rounds}, ${contender.label}`);
      const tried = isDirect ? steps.slice(-1) : steps;
      await unlessFaulty(contender, "paced", options, async () => {
        const { turns, largestGapMs } = limits.get(contender.id) ?? { turns: [], largestGapMs: null };
        const streams = await streamsSustained(contender, tried, options);
        const gapMs = turn === 1 && steps.includes(GAP_STREAMS) ? await gapAtManyOf(contender, options) : largestGapMs;
        limits.set(contender.id, { turns: [...turns, streams], largestGapMs: gapMs });
      });
    }
  }
  return limits;
}

function faultRemarks(faults: ReadonlyMap<string, string>): string[] {
  return [...faults].map(([what, fault]) => `${what} is omitted, at least in part, as it ${fault}.`);
}
