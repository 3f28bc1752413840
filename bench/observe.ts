/**
 * Measures what metrics and the log of requests cost; writes `bench/RESULTS-observe.md`.
 *
 *     deno task bench:observe     about twenty minutes; also --starts N, --rounds N, --seconds N, and --out FILE
 *
 * Gateways with both, one and neither of them have a core in turns of two seconds, in another order in each round. Two
 * gateways have neither: the others are compared with their mean, and they with each other, which shows what the
 * measurement can tell apart. All gateways are started twice, since two processes of one program differ too. A machine
 * that does other work needs more rounds.
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
  ObserveFigures,
  observeReport,
  type ReplyCost,
  type VariantId,
  VARIANTS,
} from "./observe_report.ts";
import { mainThreadMs, processState } from "./process_state.ts";
import { assignCores, type Cores, newFolder, startUpstream } from "./servers.ts";
import { shuffled } from "./shuffled.ts";

const RESULTS = fileURLToPath(new URL("./RESULTS-observe.md", import.meta.url));

interface MeasuredLoad {
  readonly id: LoadId;
  readonly mode: Mode;
  readonly connections: number;
  readonly load: Load;
  /** V8 compiles the code of a plain request for 10 seconds of processor time. */
  readonly warmingSeconds: number;
  /** The share of the rounds that this load has. */
  readonly rounds: number;
}

const LOADS: readonly MeasuredLoad[] = [
  { id: "json", mode: "json", connections: 32, load: { kind: "closed" }, warmingSeconds: 12, rounds: 1 },
  { id: "paced", mode: "paced", connections: 100, load: { kind: "streams" }, warmingSeconds: 4, rounds: 0.25 },
];

/** Rows and charges of the last requests of a turn are written within it. */
const SETTLE_MS = 700;

interface ObserveOptions {
  /** How often all gateways are started. */
  readonly starts: number;
  /** After each start. */
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
  readonly id: VariantId;
  readonly contender: Contender;
  readonly server: Server;
  readonly generators: Generators;
}

/** Starts all gateways once and measures them. */
async function measureStart(
  { start, rounds, seconds }: Omit<ObserveOptions, "starts"> & { readonly start: number },
  { folder: parent, cores, generator, upstream }: Parts,
  figures: ObserveFigures,
): Promise<void> {
  const gateways: MeasuredGateway[] = [];
  try {
    for (const { id, countsRequests, logsRequests } of shuffled(VARIANTS)) {
      const folder = await newFolder(parent, `${id}-${start}`);
      const options = { folder, upstreamPort: upstream.port, core: cores.server, countsRequests, logsRequests };
      const server = await startObservedGateway(options);
      const generators = await generatorsOf(folder, cores.load, generator);
      gateways.push({ id, contender: passThrough(server), server, generators });
    }
    for (const load of LOADS) {
      await measureRound(gateways, load, load.warmingSeconds);
      for (let round = 0; round < Math.max(1, Math.round(rounds * load.rounds)); round++) {
        for (const [variant, cost] of await measureRound(gateways, load, seconds)) {
          figures.add({ load: load.id, variant, start }, cost);
        }
      }
    }
  } finally {
    await Promise.all(gateways.map(({ server }) => server.stop()));
  }
}

/** The processor time of each gateway for a reply, one gateway after the other. */
async function measureRound(
  gateways: readonly MeasuredGateway[],
  load: MeasuredLoad,
  seconds: number,
): Promise<(readonly [VariantId, ReplyCost])[]> {
  const costs: (readonly [VariantId, ReplyCost])[] = [];
  for (const gateway of shuffled(gateways)) costs.push([gateway.id, await measureGateway(gateway, load, seconds)]);
  return costs;
}

async function measureGateway(
  gateway: MeasuredGateway,
  { mode, connections, load }: MeasuredLoad,
  seconds: number,
): Promise<ReplyCost> {
  const { id, contender, generators } = gateway;
  const generator = load.kind === "closed" ? generators.closed : generators.timed;
  const request = contender.ask(mode, SMALL_BODY_BYTES);
  const before = await usedBy(gateway);
  const { replies, failures } = await generator.run({ request, load, connections, seconds });
  await new Promise((resolve) => setTimeout(resolve, SETTLE_MS));
  const after = await usedBy(gateway);
  if (replies === 0 || failures > 0) throw new Error(`Cannot measure ${id}: ${replies} replies, ${failures} failures`);
  const costOf = (thread: keyof ReplyCost) => (after[thread] - before[thread]) / replies;
  return { allUs: costOf("allUs"), mainUs: costOf("mainUs") };
}

/** The processor time since the start. */
async function usedBy({ server: { pid } }: MeasuredGateway): Promise<ReplyCost> {
  const [state, mainMs] = await Promise.all([processState(pid), mainThreadMs(pid)]);
  if (state === null || mainMs === null) throw new Error("Cannot measure processor time: no /proc, or no gateway");
  return { allUs: state.cpuMs * 1000, mainUs: mainMs * 1000 };
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
  const [starts, rounds, seconds] = [number("starts", 2), number("rounds", 28), number("seconds", 2)];
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
