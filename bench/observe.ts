/**
 * Measures what metrics and the log of requests cost; writes `bench/RESULTS-observe.md`.
 *
 *     deno task bench:observe     about twenty minutes; also --starts N, --rounds N, --seconds N, and --out FILE
 *
 * Gateways with both, one and neither of them take turns of a few seconds in random order, many times. Two gateways
 * have neither: the others are compared with their mean, and they with each other, which shows what the measurement
 * can tell apart. All gateways are started several times, since two processes of one program differ too.
 */
import { parseArgs } from "node:util";
import { fileURLToPath } from "node:url";
import { PACED_STREAMS } from "./cases.ts";
import { run, type Server } from "./child.ts";
import { type Contender, passThrough } from "./contenders.ts";
import { startObservedGateway } from "./gateway.ts";
import { type Generators, nativeGenerator, ownGenerator, wrkGenerator } from "./generator.ts";
import type { Load } from "./load.ts";
import { type Mode, SMALL_BODY_BYTES } from "./load_request.ts";
import { describeMachine } from "./machine.ts";
import { compileNative } from "./native.ts";
import { type LoadId, ObserveFigures, observeReport, type Slice, type VariantId, VARIANTS } from "./observe_report.ts";
import { processState } from "./process_state.ts";
import { assignCores, type Cores, newFolder, startUpstream } from "./servers.ts";

const RESULTS = fileURLToPath(new URL("./RESULTS-observe.md", import.meta.url));

interface MeasuredLoad {
  readonly id: LoadId;
  readonly mode: Mode;
  readonly connections: number;
  readonly load: Load;
  /** The least seconds of a turn. */
  readonly minSeconds: number;
  /** The share of the rounds that this load has. */
  readonly rounds: number;
}

/** A stream lasts 1.3 seconds, and costs mostly its chunks, so its ratios vary less. */
const LOADS: readonly MeasuredLoad[] = [
  { id: "json", mode: "json", connections: 32, load: { kind: "closed" }, minSeconds: 1, rounds: 1 },
  { id: "paced", mode: "paced", connections: PACED_STREAMS, load: { kind: "streams" }, minSeconds: 3, rounds: 0.4 },
];

/** V8 compiles the code of a plain request for about as long under load. */
const WARMING_SECONDS = 10;
/** Rows and charges of the last requests of a turn are written within it. */
const SETTLE_MS = 700;

interface ObserveOptions {
  /** How often all gateways are started. */
  readonly starts: number;
  /** The turns of each gateway after each start. */
  readonly rounds: number;
  /** Of a turn. */
  readonly seconds: number;
}

interface Parts {
  readonly folder: string;
  readonly cores: Cores;
  readonly generators: Generators;
  readonly upstream: Server;
}

/** Starts all gateways once and measures them in turns. */
async function measureStart(
  { start, rounds, seconds }: Omit<ObserveOptions, "starts"> & { readonly start: number },
  { folder, cores, generators, upstream }: Parts,
  figures: ObserveFigures,
): Promise<void> {
  const gateways: Server[] = [];
  const contenders = new Map<VariantId, Contender>();
  try {
    for (const { id, countsRequests, logsRequests } of shuffled(VARIANTS)) {
      const gateway = await startObservedGateway({
        folder: await newFolder(folder, `${id}-${start}`),
        upstreamPort: upstream.port,
        core: cores.server,
        countsRequests,
        logsRequests,
      });
      gateways.push(gateway);
      contenders.set(id, passThrough(gateway));
    }
    for (const load of LOADS) {
      for (const contender of contenders.values()) {
        await turn(contender, load, { seconds: load.id === "json" ? WARMING_SECONDS : load.minSeconds, generators });
      }
      const turns = Math.max(1, Math.round(rounds * load.rounds));
      for (let round = 0; round < turns; round++) {
        for (const [id, contender] of shuffled([...contenders])) {
          const slice = await turn(contender, load, { seconds: Math.max(load.minSeconds, seconds), generators });
          figures.add({ load: load.id, variant: id, start }, slice);
        }
      }
    }
  } finally {
    await Promise.all(gateways.map((gateway) => gateway.stop()));
  }
}

/** Measures one gateway under load, with the work that it leaves for afterwards. */
async function turn(
  { ask, server, label }: Contender,
  { mode, connections, load }: MeasuredLoad,
  { seconds, generators }: { readonly seconds: number; readonly generators: Generators },
): Promise<Slice> {
  const generator = load.kind === "closed" ? generators.closed : generators.timed;
  const before = server && await processState(server.pid);
  const { replies, failures, elapsedMs } = await generator.run({
    request: ask(mode, SMALL_BODY_BYTES),
    load,
    connections,
    seconds,
  });
  await new Promise((resolve) => setTimeout(resolve, SETTLE_MS));
  const after = server && await processState(server.pid);
  if (before === null || after === null) throw new Error("Cannot measure processor time: there is no /proc");
  if (replies === 0 || failures > 0) {
    throw new Error(`Cannot measure ${label}: ${replies} replies, ${failures} failures`);
  }
  return { cpuUs: (after.cpuMs - before.cpuMs) * 1000 / replies, repliesPerSecond: replies / elapsedMs * 1000 };
}

function shuffled<Item>(items: readonly Item[]): Item[] {
  return items.map((item) => ({ item, at: Math.random() })).sort((one, other) => one.at - other.at)
    .map(({ item }) => item);
}

async function generatorsOf(folder: string, core: number | null, program: string | null): Promise<Generators> {
  const options = { core, folder };
  const timed = program === null ? ownGenerator(options) : nativeGenerator(program, options);
  return { closed: await wrkGenerator(options) ?? timed, timed };
}

async function main(args: readonly string[]): Promise<void> {
  const text = { type: "string" } as const;
  const { values } = parseArgs({ args: [...args], options: { starts: text, rounds: text, seconds: text, out: text } });
  const [starts, rounds, seconds] = [values.starts ?? 4, values.rounds ?? 12, values.seconds ?? 2].map(Number) as [
    number,
    number,
    number,
  ];
  const folder = await Deno.makeTempDir({ prefix: "switchyard-observe-" });
  let upstream: Server | null = null;
  try {
    const machine = await describeMachine(folder);
    const native = await compileNative(folder);
    const programs = typeof native === "string" ? null : native;
    const cores = await assignCores();
    upstream = await startUpstream(programs, folder, cores.upstream);
    const generators = await generatorsOf(folder, cores.load, programs?.generator ?? null);
    const figures = new ObserveFigures();
    for (let start = 1; start <= starts; start++) {
      console.error(`start ${start} of ${starts}`);
      await measureStart({ start, rounds, seconds }, { folder, cores, generators, upstream }, figures);
    }
    const out = values.out ?? RESULTS;
    await Deno.writeTextFile(out, observeReport({ figures, machine, cores, date: new Date(), starts, seconds }));
    await run([Deno.execPath(), "fmt", "--quiet", out], { timeoutMs: 30_000 });
    console.error(`written: ${out}`);
  } finally {
    await upstream?.stop();
    await Deno.remove(folder, { recursive: true });
  }
}

if (import.meta.main) await main(Deno.args);
