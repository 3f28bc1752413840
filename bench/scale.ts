/**
 * Measures one gateway with one and with several threads that accept connections; writes `bench/RESULTS-scale.md`.
 *
 *     deno task bench:scale     about six minutes; also --seconds N and --rounds N
 *
 * Nothing is pinned to a core, since several threads need several. On a machine with few cores the upstream and the
 * generator take a part of them, so processor time per request compares better than replies per second.
 */
import { parseArgs } from "node:util";
import { fileURLToPath } from "node:url";
import { run, type Server } from "./child.ts";
import { type Contender, passThrough } from "./contenders.ts";
import {
  type ContenderResult,
  cpuUsPerReply,
  measure,
  p50Ms,
  p99Ms,
  type Reading,
  repliesPerSecond,
} from "./contest.ts";
import { startGateway } from "./gateway.ts";
import { type Generators, nativeGenerator, ownGenerator, wrkGenerator } from "./generator.ts";
import { SMALL_BODY_BYTES } from "./load_request.ts";
import { describeMachine, type Machine } from "./machine.ts";
import { figure, mebibytes, ranged, table } from "./markdown.ts";
import { compileNative } from "./native.ts";
import { processState } from "./process_state.ts";
import { newFolder, startUpstream } from "./servers.ts";
import { rangeOf } from "./statistics.ts";

/** A gateway with a number of threads. */
interface Variant {
  readonly isolates: number;
  readonly server: Server;
  readonly contender: Contender;
  /** Some seconds after the start. */
  idleBytes: number | null;
  /** The results by number of connections. */
  readonly results: Map<number, ContenderResult[]>;
}

const RESULTS = fileURLToPath(new URL("./RESULTS-scale.md", import.meta.url));
const CONNECTIONS = [32, 128];
/** V8 compiles the code of each thread for 10 to 15 seconds under load. */
const WARMING_SECONDS = 15;
const SETTLE_MS = 3_000;
/** The highest ratio of processor time with several threads to that with one. */
const TARGET = 1.15;

/** One thread, two, and as many as the machine has cores, at most eight. */
function countsOf(cores: number): number[] {
  return [...new Set([1, 2, Math.min(cores, 8)])].filter((count) => count >= 1);
}

async function startVariants(folder: string, upstreamPort: number, running: Server[]): Promise<Variant[]> {
  const variants: Variant[] = [];
  for (const isolates of countsOf(navigator.hardwareConcurrency)) {
    const options = { folder: await newFolder(folder, `isolates-${isolates}`), upstreamPort, core: null, isolates };
    const server = await startGateway(options);
    running.push(server);
    variants.push({ isolates, server, contender: passThrough(server), idleBytes: null, results: new Map() });
  }
  return variants;
}

async function measureVariants(
  variants: readonly Variant[],
  { seconds, rounds, generators }: { seconds: number; rounds: number; generators: Generators },
): Promise<void> {
  const load = { mode: "json", bodyBytes: SMALL_BODY_BYTES, load: { kind: "closed" } } as const;
  for (const { contender, isolates } of variants) {
    console.error(`warming up ${isolates}`);
    const warming = Math.min(WARMING_SECONDS, 3 * seconds) * isolates;
    await measure(contender, { ...load, connections: 64 }, { seconds: warming, generators });
  }
  for (let round = 1; round <= rounds; round++) {
    for (const connections of CONNECTIONS) {
      console.error(`${connections} connections: round ${round} of ${rounds}`);
      for (const { contender, results } of variants) {
        const result = await measure(contender, { ...load, connections }, { seconds, generators });
        results.getOrInsertComputed(connections, () => []).push(result);
      }
    }
  }
}

async function generatorsOf(folder: string, program: string | null): Promise<Generators> {
  const options = { core: null, folder };
  const timed = program === null ? ownGenerator(options) : nativeGenerator(program, options);
  return { closed: await wrkGenerator(options) ?? timed, timed };
}

function rowOf(variant: Variant, base: Variant, connections: number): string[] {
  const [own, others] = [variant.results.get(connections) ?? [], base.results.get(connections) ?? []];
  const range = (of: Reading) => rangeOf(own.flatMap((result) => of(result) ?? []));
  const ratios = own.flatMap((result, round) => {
    const [cpu, other] = [result.cpuUsPerReply, others[round]?.cpuUsPerReply];
    return cpu && other ? [cpu / other] : [];
  });
  return [
    `${variant.isolates === 1 ? "1 thread" : `${variant.isolates} threads`}, ${connections} connections`,
    ranged(range(repliesPerSecond)),
    ranged(range(cpuUsPerReply)),
    variant === base ? "1" : ranged(rangeOf(ratios), 2),
    figure(range(p50Ms)?.median, 1),
    figure(range(p99Ms)?.median, 1),
    figure(own.reduce((sum, { failures }) => sum + failures, 0)),
  ];
}

function reportOf(variants: readonly Variant[], machine: Machine, memory: readonly string[][]): string {
  const [base] = variants;
  const head = ["", "Replies/s", "CPU µs a request", "of one thread", "p50 ms", "p99 ms", "failures"];
  const rows = CONNECTIONS.flatMap((connections) => variants.map((each) => rowOf(each, base!, connections)));
  return `# Results: threads that accept connections

JSON of 1 KB, on ${new Date().toISOString().slice(0, 10)}: ${machine.cpu}, ${machine.cores} cores, ${machine.system},
Deno ${machine.deno}. The target is at most ${TARGET} × the processor time of one thread.

Upstream and generator share the cores with the gateway, so that replies per second of several threads are those of a
machine with fewer cores. Processor time is that of all threads of the gateway, and of the kernel for them.

${table(head, rows)}

${table(["Memory, MiB", "at the start", "after the load"], memory)}
`;
}

async function main(args: readonly string[]): Promise<void> {
  const { values } = parseArgs({
    args: [...args],
    options: { seconds: { type: "string" }, rounds: { type: "string" }, out: { type: "string" } },
  });
  const folder = await Deno.makeTempDir({ prefix: "switchyard-scale-" });
  const running: Server[] = [];
  try {
    const machine = await describeMachine(folder);
    const native = await compileNative(folder);
    const programs = typeof native === "string" ? null : native;
    const upstream = await startUpstream(programs, folder, null);
    running.push(upstream);
    const variants = await startVariants(folder, upstream.port, running);
    await new Promise((resolve) => setTimeout(resolve, SETTLE_MS));
    const memoryOf = async ({ server }: Variant) => (await processState(server.pid))?.residentBytes ?? null;
    for (const variant of variants) variant.idleBytes = await memoryOf(variant);
    const [seconds, rounds] = [Number(values.seconds ?? 5), Number(values.rounds ?? 5)];
    const generators = await generatorsOf(folder, programs?.generator ?? null);
    await measureVariants(variants, { seconds, rounds, generators });
    const memory = await Promise.all(variants.map(async (variant) => [
      variant.isolates === 1 ? "1 thread" : `${variant.isolates} threads`,
      mebibytes(variant.idleBytes),
      mebibytes(await memoryOf(variant)),
    ]));
    const out = values.out ?? RESULTS;
    await Deno.writeTextFile(out, reportOf(variants, machine, memory));
    await run([Deno.execPath(), "fmt", "--quiet", out], { timeoutMs: 30_000 });
    console.error(`written: ${out}`);
  } finally {
    await Promise.all(running.map((server) => server.stop()));
    await Deno.remove(folder, { recursive: true });
  }
}

if (import.meta.main) await main(Deno.args);
