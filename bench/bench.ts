import { MODES } from "./load_request.ts";
import { type Capacity, capacityOf } from "./capacity.ts";
import type { Server } from "./child.ts";
import { type Contender, type ContenderId, contendersOf, failureOf, type Servers } from "./contenders.ts";
import { type Figures, type Generators, measure, runContest } from "./contest.ts";
import { repliesCharged } from "./gateway.ts";
import { ownGenerator, withTally, wrkGenerator } from "./generator.ts";
import { describeMachine } from "./machine.ts";
import { figure } from "./markdown.ts";
import { PEER } from "./peer.ts";
import { type ProcessState, processState } from "./process_state.ts";
import { profileGateway } from "./profiling.ts";
import type { MemoryUse, Outcome } from "./report.ts";
import { assignCores, type Cores, newFolder, startServers } from "./servers.ts";

/** Length and contenders of a run. */
export interface BenchOptions {
  /** Whole seconds of each run. */
  readonly seconds: number;
  readonly rounds: number;
  readonly withPeer: boolean;
  /** Whether to search for the maximum number of paced streams of each contender, which takes some minutes. */
  readonly withCapacity: boolean;
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
  const machine = await describeMachine(folder);
  const cores = await assignCores();
  const repliesByPort = new Map<number, number>();
  const wrk = await wrkGenerator(cores.load, folder);
  const generators = {
    own: withTally(ownGenerator(cores.load), repliesByPort),
    wrk: wrk && withTally(wrk, repliesByPort),
  };
  tell("starting the servers");
  const { servers, gatewayOptions, remarks } = await startServers(
    { folder, cores, withPeer: options.withPeer },
    running,
  );
  await pause(SETTLE_MS);
  const idle = await memoryOf(servers);
  const contenders = contendersOf(servers);
  const faults = await faultsOf(contenders);
  tell("profiling the gateway");
  const profiled = { ...gatewayOptions, folder: await newFolder(folder, "profiled") };
  const profiles = await profileGateway(profiled, servers, { seconds: options.seconds, generators });
  await warmUp(contenders, faults, generators, tell);
  const figures = await runContest(contenders, { ...options, generators, faults, onProgress: tell });
  const capacities = await capacitiesOf(options.withCapacity ? contenders : [], faults, generators, tell);
  await pause(SETTLE_MS);
  const after = await memoryOf(servers);
  const charges = {
    counted: repliesByPort.get(servers.gateway.port) ?? 0,
    charged: await repliesCharged(servers.gateway),
  };
  return {
    machine,
    date: new Date(),
    method: methodOf(options, cores, generators),
    contenders,
    figures,
    capacities,
    memory: memoryUses(idle, after),
    charges,
    remarks: [...remarks, ...faultRemarks(faults), headRoomOf(figures), ...failureRemarks(contenders, figures)],
    profiles,
  };
}

/** Time for memory to be released, and for the last charges to become durable. */
const SETTLE_MS = 3_000;

function pause(ms: number): Promise<void> {
  return new Promise((resolve) => setTimeout(resolve, ms));
}

/**
 * Sends each contender one request for each kind of reply. Only the peer may fail: without the others the run has no
 * meaning.
 */
async function faultsOf(contenders: readonly Contender[]): Promise<Map<string, string>> {
  const faults = new Map<string, string>();
  for (const contender of contenders) {
    for (const mode of MODES) {
      const fault = await failureOf(contender, mode);
      if (fault === null) continue;
      if (contender.id !== "peer") throw new Error(`Cannot measure "${contender.label}": it ${fault}`);
      faults.set(`${contender.id}/${mode}`, fault);
    }
  }
  return faults;
}

/** Lets every engine compile its hot code before the measurement. */
async function warmUp(
  contenders: readonly Contender[],
  faults: ReadonlyMap<string, string>,
  generators: Generators,
  tell: OnProgress,
): Promise<void> {
  tell("warming up");
  for (const contender of contenders) {
    for (const mode of ["json", "burst"] as const) {
      if (faults.has(`${contender.id}/${mode}`)) continue;
      await measure(contender, { mode, connections: 16, looksInside: false }, { seconds: 1, generators });
    }
  }
}

async function capacitiesOf(
  contenders: readonly Contender[],
  faults: ReadonlyMap<string, string>,
  generators: Generators,
  tell: OnProgress,
): Promise<Map<ContenderId, Capacity>> {
  const capacities = new Map<ContenderId, Capacity>();
  for (const contender of contenders) {
    if (faults.has(`${contender.id}/paced`)) continue;
    tell(`searching the maximum number of paced streams of ${contender.label}`);
    capacities.set(contender.id, await capacityOf(contender, generators));
  }
  return capacities;
}

/** The memory of each measured server, by its name in the report. */
async function memoryOf({ bare, gateway, peer }: Servers): Promise<Map<string, ProcessState | null>> {
  const states = new Map([
    ["a: bare Deno proxy", await processState(bare.pid)],
    ["b, c: Switchyard", await processState(gateway.pid)],
  ]);
  if (peer !== null) states.set(`d: ${PEER.packageName}`, await processState(peer.pid));
  return states;
}

function memoryUses(
  idle: ReadonlyMap<string, ProcessState | null>,
  after: ReadonlyMap<string, ProcessState | null>,
): MemoryUse[] {
  return [...idle].map(([name, state]) => ({ name, idle: state, after: after.get(name) ?? null }));
}

function methodOf({ rounds, seconds }: BenchOptions, cores: Cores, { own, wrk }: Generators): string[] {
  const inside = `the time to the first token and paced streams by ${own.name}, which parses responses`;
  const whole = wrk === null
    ? `${own.name} makes all load.`
    : `Whole responses and streams sent at once are requested by ${wrk.name}, ${inside}.`;
  return [
    `All contenders are measured in one run, in turn: ${rounds} × ${seconds} s for each kind of load. A figure is ` +
    `the median of its rounds; a ratio is the median of the ratios in each round. ${cores.description} ${whole}`,
    "The upstream sends fixed bytes over raw TCP. A response to a request of 0.6 KB is 1 KB of JSON, or a stream " +
    "of 200 chunks, all at once or one every 5 ms. For the time to the first token, the first chunk is sent at " +
    "once and the rest after 5 ms; streams follow one another on one connection. A contender sustains a number " +
    "of paced streams if half of them last at most 5 % longer than without a proxy.",
    "Switchyard runs as in production: store on disk, key checks, a charge before the last byte of each response, " +
    "and log lines to a file. The bare proxy is `Deno.serve`, `fetch` and `new Response(upstream.body)`.",
  ];
}

function faultRemarks(faults: ReadonlyMap<string, string>): string[] {
  return [...faults].map(([what, fault]) => `${what} is omitted, as it ${fault}.`);
}

/** How much more than the fastest proxy the upstream and the generator could handle. */
function headRoomOf(figures: Figures): string {
  const room = (["json_32", "burst"] as const).map((scenario) => figure(figures.ratioToBare("direct", scenario), 1));
  return `Headroom: without a proxy, the same load and upstream reach ${
    room[0]
  } times the bare proxy's JSON responses and ${room[1]} times ` +
    "its streams sent at once. If a proxy sustains as many paced streams as no proxy, the load was the limit.";
}

function failureRemarks(contenders: readonly Contender[], figures: Figures): string[] {
  const counts = contenders.map((contender) => ({ label: contender.label, count: figures.failuresOf(contender.id) }));
  const failing = counts.filter(({ count }) => count > 0).map(({ label, count }) => `${label} ${figure(count)}`);
  return [failing.length === 0 ? "No request failed." : `Requests that failed: ${failing.join("; ")}.`];
}
