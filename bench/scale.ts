/**
 * Measures one gateway with one and with several threads that accept connections, with small and with large bodies,
 * then one and two gateways on one PostgreSQL database, and what a message between two threads costs; writes
 * `bench/RESULTS-scale.md`.
 *
 *     deno task bench:scale     about twelve minutes; also --seconds N, --rounds N and --out FILE
 *
 * Nothing is pinned to a core, since several threads need several. On a machine with few cores the upstream, the
 * generator and the database take a part of them, so processor time per request compares better than replies per
 * second.
 */
import { parseArgs } from "node:util";
import { fileURLToPath } from "node:url";
import { run, type Server } from "./child.ts";
import { type Generators, nativeGenerator, ownGenerator, wrkGenerator } from "./generator.ts";
import { SMALL_BODY_BYTES } from "./load_request.ts";
import { describeMachine } from "./machine.ts";
import { measureRoundTrips } from "./message_cost.ts";
import { compileNative } from "./native.ts";
import { type MeasuredVariant, scaleReport } from "./scale_report.ts";
import {
  BODY_LOADS,
  measureVariant,
  RATE_LOADS,
  type ScaleLoad,
  type ScaleOptions,
  SMALL_LOADS,
} from "./scale_runs.ts";
import { findPostgres, startDatabaseVariants, startThreadVariants, useOf, type Variant } from "./scale_variants.ts";
import { newFolder, startUpstream } from "./servers.ts";
import { shuffled } from "./shuffled.ts";

const RESULTS = fileURLToPath(new URL("./RESULTS-scale.md", import.meta.url));
const MAX_GATEWAYS = 2;
/** V8 compiles the code of each thread for so long under load. */
const WARMING_SECONDS = 12;
const MAX_WARMING_SECONDS = 36;
const BODY_WARMING_SECONDS = 3;
const SETTLE_MS = 3_000;
const MESSAGES_MS = 2_000;
const WARMING_LOAD = { bodyBytes: SMALL_BODY_BYTES, connections: 64, perSecond: null };

/** One thread, two, and as many as the machine has cores, at most eight. */
function countsOf(cores: number): number[] {
  return [...new Set([1, 2, Math.min(cores, 8)])].filter((count) => count >= 1);
}

/** A variant of this run. */
interface RunningVariant extends MeasuredVariant {
  readonly variant: Variant;
}

/** Large bodies are a matter of threads; a database has no part in them. */
function loadsOf({ database }: Variant): readonly ScaleLoad[] {
  return database === null ? [...SMALL_LOADS, ...RATE_LOADS, ...BODY_LOADS] : SMALL_LOADS;
}

async function measureAll(
  variants: readonly RunningVariant[],
  { rounds, ...options }: ScaleOptions & { readonly rounds: number },
): Promise<void> {
  const { seconds } = options;
  for (const { variant } of variants) {
    console.error(`warming up ${variant.label}`);
    const warming = Math.min(WARMING_SECONDS * variant.threads, 3 * seconds * variant.threads, MAX_WARMING_SECONDS);
    await measureVariant(variant, WARMING_LOAD, { ...options, seconds: warming });
    for (const load of loadsOf(variant).filter((each) => BODY_LOADS.includes(each))) {
      await measureVariant(variant, load, { ...options, seconds: Math.min(BODY_WARMING_SECONDS, seconds) });
    }
  }
  for (let round = 1; round <= rounds; round++) {
    for (const load of [...SMALL_LOADS, ...RATE_LOADS, ...BODY_LOADS]) {
      console.error(`${load.title}: round ${round} of ${rounds}`);
      // In another order each time, so that a slow minute of the machine falls on all alike.
      for (const { variant, runs } of shuffled(variants)) {
        if (!loadsOf(variant).includes(load)) continue;
        runs.getOrInsertComputed(load.title, () => []).push(await measureVariant(variant, load, options));
      }
    }
  }
}

/** A pair for each gateway of a variant, with a folder of its own for the request. */
async function generatorsOf(folder: string, program: string | null): Promise<Generators[]> {
  const all: Generators[] = [];
  for (let number = 1; number <= MAX_GATEWAYS; number++) {
    const options = { core: null, folder: await newFolder(folder, `load-${number}`) };
    const timed = program === null ? ownGenerator(options) : nativeGenerator(program, options);
    all.push({ closed: await wrkGenerator(options) ?? timed, timed });
  }
  return all;
}

async function main(args: readonly string[]): Promise<void> {
  const { values } = parseArgs({
    args: [...args],
    options: { seconds: { type: "string" }, rounds: { type: "string" }, out: { type: "string" } },
  });
  const folder = await Deno.makeTempDir({ prefix: "switchyard-scale-" });
  const running: Server[] = [];
  const postgres = await findPostgres();
  try {
    const machine = await describeMachine(folder);
    console.error("messages between two threads");
    const trips = await measureRoundTrips(MESSAGES_MS);
    const native = await compileNative(folder);
    const programs = typeof native === "string" ? null : native;
    const upstream = await startUpstream(programs, folder, null);
    running.push(upstream);
    const place = { folder, upstreamPort: upstream.port };
    const started = [
      ...await startThreadVariants(countsOf(navigator.hardwareConcurrency), place, running),
      ..."server" in postgres ? await startDatabaseVariants(postgres.server, place, running) : [],
    ];
    await new Promise((resolve) => setTimeout(resolve, SETTLE_MS));
    const variants: RunningVariant[] = [];
    for (const variant of started) {
      const { residentBytes } = await useOf(variant);
      variants.push({ variant, idleBytes: residentBytes, loadedBytes: null, runs: new Map() });
    }
    const [seconds, rounds] = [Number(values.seconds ?? 3), Number(values.rounds ?? 8)];
    const generators = await generatorsOf(folder, programs?.generator ?? null);
    await measureAll(variants, { seconds, rounds, generators, upstream });
    for (const measured of variants) measured.loadedBytes = (await useOf(measured.variant)).residentBytes;
    const names = generators.slice(0, 1).flatMap((
      { closed, timed },
    ) => [closed.name, `${timed.name} at constant rates`]);
    const generator = names.join(", ");
    const out = values.out ?? RESULTS;
    await Deno.writeTextFile(out, scaleReport({ variants, machine, trips, generator, postgres }));
    await run([Deno.execPath(), "fmt", "--quiet", out], { timeoutMs: 30_000 });
    console.error(`written: ${out}`);
  } finally {
    await Promise.all(running.map((server) => server.stop()));
    if ("server" in postgres) await postgres.server.stop();
    await Deno.remove(folder, { recursive: true });
  }
}

if (import.meta.main) await main(Deno.args);
