/**
 * Measures what metrics and the log of requests cost; writes `bench/RESULTS-observe.md`.
 *
 *     deno task bench:observe     about twenty minutes; also --starts N, --rounds N, --seconds N, and --out FILE
 *
 * A gateway with both or one of them shares one core under load with a gateway that has neither, so that whatever else
 * the machine does slows both alike. More than two at once would share the caches of the core, and each would write its
 * log in small batches. One pair has neither twice, which shows what the measurement can tell apart. All gateways are
 * started several times, since two processes of one program differ too.
 */
import { parseArgs } from "node:util";
import { fileURLToPath } from "node:url";
import { run, type Server } from "./child.ts";
import { type Contender, passThrough } from "./contenders.ts";
import { startObservedGateway } from "./gateway.ts";
import { type Generators, nativeGenerator, ownGenerator, wrkGenerator } from "./generator.ts";
import type { Load } from "./load.ts";
import { type Mode, SMALL_BODY_BYTES } from "./load_request.ts";
import { describeMachine } from "./machine.ts";
import { compileNative } from "./native.ts";
import {
  type LoadId,
  type Observed,
  ObserveFigures,
  observeReport,
  type PairCost,
  type ReplyCost,
  type VariantId,
  VARIANTS,
} from "./observe_report.ts";
import { mainThreadMs, processState } from "./process_state.ts";
import { assignCores, type Cores, newFolder, startUpstream } from "./servers.ts";

const RESULTS = fileURLToPath(new URL("./RESULTS-observe.md", import.meta.url));

interface MeasuredLoad {
  readonly id: LoadId;
  readonly mode: Mode;
  /** Of each gateway. */
  readonly connections: number;
  readonly load: Load;
  /** V8 compiles the code of a plain request for 10 seconds of processor time, and two gateways share a core. */
  readonly warmingSeconds: number;
  /** The share of the rounds that this load has. */
  readonly rounds: number;
}

const LOADS: readonly MeasuredLoad[] = [
  { id: "json", mode: "json", connections: 16, load: { kind: "closed" }, warmingSeconds: 20, rounds: 1 },
  { id: "paced", mode: "paced", connections: 50, load: { kind: "streams" }, warmingSeconds: 5, rounds: 0.5 },
];

/** Rows and charges of the last requests of a round are written within it. */
const SETTLE_MS = 700;

interface ObserveOptions {
  /** How often all gateways are started. */
  readonly starts: number;
  /** Of each pair, after each start. */
  readonly rounds: number;
  /** Of a round. */
  readonly seconds: number;
}

interface Parts {
  readonly folder: string;
  readonly cores: Cores;
  readonly generator: string | null;
  readonly upstream: Server;
}

/** A gateway with the generators of its load. */
interface MeasuredGateway {
  readonly contender: Contender;
  readonly server: Server;
  readonly generators: Generators;
}

/** Starts all gateways once and measures them. */
async function measureStart(
  { start, rounds, seconds }: Omit<ObserveOptions, "starts"> & { readonly start: number },
  parts: Parts,
  figures: ObserveFigures,
): Promise<void> {
  const gateways: MeasuredGateway[] = [];
  const started = async (id: string, observed: Observed) => {
    const gateway = await startGateway(await newFolder(parts.folder, `${id}-${start}`), observed, parts);
    gateways.push(gateway);
    return gateway;
  };
  try {
    const base = await started("base", { countsRequests: false, logsRequests: false });
    const others: (readonly [VariantId, MeasuredGateway])[] = [];
    for (const { id, ...observed } of shuffled(VARIANTS)) others.push([id, await started(id, observed)]);
    for (const load of LOADS) {
      for (const [, other] of others) await measurePair([base, other], load, load.warmingSeconds);
      for (let round = 0; round < Math.max(1, Math.round(rounds * load.rounds)); round++) {
        for (const [variant, other] of shuffled(others)) {
          figures.add({ load: load.id, variant, start }, await measurePair([base, other], load, seconds));
        }
      }
    }
  } finally {
    await Promise.all(gateways.map(({ server }) => server.stop()));
  }
}

/** @param folder An empty one. */
async function startGateway(
  folder: string,
  observed: Observed,
  { cores, generator, upstream }: Parts,
): Promise<MeasuredGateway> {
  const server = await startObservedGateway({ folder, upstreamPort: upstream.port, core: cores.server, ...observed });
  return { contender: passThrough(server), server, generators: await generatorsOf(folder, cores.load, generator) };
}

/** The processor time of two gateways for a reply, while both are under load. */
async function measurePair(
  [base, other]: readonly [MeasuredGateway, MeasuredGateway],
  { mode, connections, load }: MeasuredLoad,
  seconds: number,
): Promise<PairCost> {
  const measured = async (gateway: MeasuredGateway): Promise<ReplyCost> => {
    const { contender, server, generators } = gateway;
    const before = await usedBy(gateway);
    const generator = load.kind === "closed" ? generators.closed : generators.timed;
    const { replies, failures } = await generator.run({
      request: contender.ask(mode, SMALL_BODY_BYTES),
      load,
      connections,
      seconds,
    });
    await new Promise((resolve) => setTimeout(resolve, SETTLE_MS));
    const after = await usedBy(gateway);
    if (replies === 0 || failures > 0) {
      throw new Error(`Cannot measure ${server.name}: ${replies} replies, ${failures} failures`);
    }
    const costOf = (thread: keyof ReplyCost) => (after[thread] - before[thread]) / replies;
    return { allUs: costOf("allUs"), mainUs: costOf("mainUs") };
  };
  const [own, ofBase] = await Promise.all([measured(other), measured(base)]);
  return { own, base: ofBase };
}

/** The processor time since the start. */
async function usedBy({ server: { pid } }: MeasuredGateway): Promise<ReplyCost> {
  const [state, mainMs] = await Promise.all([processState(pid), mainThreadMs(pid)]);
  if (state === null || mainMs === null) throw new Error("Cannot measure processor time: no /proc, or no gateway");
  return { allUs: state.cpuMs * 1000, mainUs: mainMs * 1000 };
}

function shuffled<Item>(items: readonly Item[]): Item[] {
  return items.map((item) => ({ item, at: Math.random() })).sort((one, other) => one.at - other.at)
    .map(({ item }) => item);
}

/** @param folder Of the gateway, since a generator writes its request to a file. */
async function generatorsOf(folder: string, core: number | null, program: string | null): Promise<Generators> {
  const options = { core, folder };
  const timed = program === null ? ownGenerator(options) : nativeGenerator(program, options);
  return { closed: await wrkGenerator(options) ?? timed, timed };
}

/** Reads the command line. Throws a `RangeError` or a `TypeError` when it cannot be read. */
function optionsOf(args: readonly string[]): ObserveOptions & { readonly out: string } {
  const text = { type: "string" } as const;
  const { values } = parseArgs({ args: [...args], options: { starts: text, rounds: text, seconds: text, out: text } });
  const number = (name: "starts" | "rounds" | "seconds", usual: number): number => {
    const value = Number(values[name] ?? usual);
    if (Number.isInteger(value) && value >= 1) return value;
    throw new RangeError(`expected a whole number for --${name}, got "${values[name]}"`);
  };
  const [starts, rounds, seconds] = [number("starts", 3), number("rounds", 16), number("seconds", 3)];
  return { starts, rounds, seconds, out: values.out ?? RESULTS };
}

async function main(args: readonly string[]): Promise<void> {
  const { starts, rounds, seconds, out } = optionsOf(args);
  const folder = await Deno.makeTempDir({ prefix: "switchyard-observe-" });
  let upstream: Server | null = null;
  try {
    const machine = await describeMachine(folder);
    const native = await compileNative(folder);
    const programs = typeof native === "string" ? null : native;
    const cores = await assignCores();
    upstream = await startUpstream(programs, folder, cores.upstream);
    const parts = { folder, cores, generator: programs?.generator ?? null, upstream };
    const figures = new ObserveFigures();
    for (let start = 1; start <= starts; start++) {
      console.error(`start ${start} of ${starts}`);
      await measureStart({ start, rounds, seconds }, parts, figures);
    }
    await Deno.writeTextFile(out, observeReport({ figures, machine, date: new Date(), starts, seconds }));
    await run([Deno.execPath(), "fmt", "--quiet", out], { timeoutMs: 30_000 });
    console.error(`written: ${out}`);
  } finally {
    await upstream?.stop();
    await Deno.remove(folder, { recursive: true });
  }
}

if (import.meta.main) await main(Deno.args);
