import type { Machine } from "./machine.ts";
import { figure, mebibytes, percent, ranged, table } from "./markdown.ts";
import { addedMessageUs, type RoundTrip } from "./message_cost.ts";
import { BODY_LOADS, RATE_LOADS, type ScaleLoad, type ScaleRun, SMALL_LOADS } from "./scale_runs.ts";
import type { Variant } from "./scale_variants.ts";
import { type Range, rangeOf } from "./statistics.ts";

/** A variant with its results. */
export interface MeasuredVariant {
  readonly variant: Pick<Variant, "label"> & { readonly database: object | null };
  /** Some seconds after the start. */
  readonly idleBytes: number | null;
  loadedBytes: number | null;
  /** The results of each round by the title of the load. */
  readonly runs: Map<string, ScaleRun[]>;
}

/** What the report is made of. */
export interface ScaleFigures {
  /** The first has one thread and a store in a file; others are compared with it. */
  readonly variants: readonly MeasuredVariant[];
  readonly machine: Machine;
  readonly trips: readonly RoundTrip[];
  /** The name of the generator. */
  readonly generator: string;
  /** The version of the database server, or why there is none. */
  readonly postgres: { readonly version: string } | { readonly why: string };
}

/** The highest ratio of processor time with several threads to that with one, for small requests. */
const TARGET = 1.15;
/** The same for large bodies. */
const BODY_TARGET = 1.1;

/** The text of `RESULTS-scale.md`. */
export function scaleReport(figures: ScaleFigures): string {
  const { variants, machine, generator, trips, postgres } = figures;
  const [inFile, inDatabase] = [variants.filter(isInFile), variants.filter((each) => !isInFile(each))];
  return `# Results: threads that accept connections, and gateways on PostgreSQL

JSON of 1 KB, and request bodies of 100 KB and 1 MB, on ${
    new Date().toISOString().slice(0, 10)
  }: ${machine.cpu}, ${machine.cores} cores, ${machine.system},
Deno ${machine.deno}.

No process is pinned to a core. The upstream, the generator (${generator}) and the database server share the
${machine.cores} cores with the gateways, so replies per second are those of a machine with fewer cores, and the times
of replies include the wait for a core. Compare processor time: it is that of all threads of all gateways of a row, and
of the kernel for them.

## Threads, with the store in a file

The target is at most ${TARGET} × the processor time of one thread.

${loadTable(inFile, variants[0], SMALL_LOADS)}

## Large bodies, with the store in a file

${bodiesSection(inFile)}

## Gateways on one database

${databaseSection(inDatabase, variants[0], postgres)}

## Memory

${memoryTable(variants)}

The memory of several gateways is their sum. That of the database server is not in it.

## Messages between two threads

${messagesSection(trips)}
`;
}

function isInFile({ variant }: MeasuredVariant): boolean {
  return variant.database === null;
}

function databaseSection(
  variants: readonly MeasuredVariant[],
  base: MeasuredVariant | undefined,
  postgres: ScaleFigures["postgres"],
): string {
  if ("why" in postgres) return `Not measured, as no PostgreSQL server could be started: ${postgres.why}.`;
  return `PostgreSQL ${postgres.version} on the same host, with \`fsync\`. Each gateway has one thread, and two gateways have equal
parts of the connections. Their p50 and p99 are the longer of both. \`power\` and \`process\` are
\`billing.durability\`. The server's processor time is that of all its processes; it is not part of the gateways'.

${loadTable(variants, base, SMALL_LOADS)}`;
}

/** Missed targets first, then what they are from. */
function bodiesSection(variants: readonly MeasuredVariant[]): string {
  const [base, ...others] = variants;
  if (base === undefined) return "Not measured.";
  const rows = others.flatMap((several) => RATE_LOADS.flatMap((load) => targetsOf(several, base, load)));
  const missedFirst = rows.toSorted((one, other) => Number(one.isMet) - Number(other.isMet));
  const sentence =
    `Requests at a constant rate, which leaves every core idle time, with the upstream and the generator on the same cores.
A ratio is the median of those within each round; the order of the variants is another one in each round. A share is
that of the processor time of all cores.`;
  return `${sentence}

${table(["", "Target", "Now", "Result"], missedFirst.map(({ cells }) => cells))}

${loadTable(variants, base, RATE_LOADS)}

Closed loops: the factor of replies per second is also a matter of what the generator and the upstream leave.

${loadTable(variants, base, BODY_LOADS)}`;
}

interface Target {
  readonly isMet: boolean;
  readonly cells: readonly string[];
}

function targetsOf(several: MeasuredVariant, base: MeasuredVariant, { title }: ScaleLoad): Target[] {
  const target = (what: string, max: number, ratio: Range | null): Target[] => {
    if (ratio === null) return [];
    const isMet = ratio.median <= max;
    const name = `${title}, ${several.variant.label}: ${what}, of one thread's`;
    return [{
      isMet,
      cells: [name, `at most ${figure(max, 2)} ×`, `${ranged(ratio, 2)} ×`, isMet ? "met" : "**missed**"],
    }];
  };
  return [
    ...target("CPU of a request", BODY_TARGET, ratioOf(several, base, title, ({ gatewayUs }) => gatewayUs)),
    ...target("p99", 1, ratioOf(several, base, title, ({ p99Ms }) => p99Ms)),
  ];
}

/** The range of the ratios within each round; null without one. */
function ratioOf(
  measured: MeasuredVariant,
  base: MeasuredVariant | undefined,
  title: string,
  of: (run: ScaleRun) => number | null,
): Range | null {
  const others = base?.runs.get(title) ?? [];
  return rangeOf((measured.runs.get(title) ?? []).flatMap((run, round) => {
    const [own, other] = [of(run), others[round] === undefined ? null : of(others[round])];
    return own !== null && other ? [own / other] : [];
  }));
}

function loadTable(
  variants: readonly MeasuredVariant[],
  base: MeasuredVariant | undefined,
  loads: readonly ScaleLoad[],
): string {
  const hasDatabase = variants.some((each) => !isInFile(each));
  const head = [
    "",
    "Replies/s",
    "of one thread",
    "CPU µs a request",
    "of one thread",
    ...hasDatabase ? ["server's µs"] : [],
    "p50 ms",
    "p99 ms",
    "generator's share",
    "upstream's share",
    "failures",
  ];
  const titles = loads.map(({ title }) => title).filter((title) => variants.some(({ runs }) => runs.has(title)));
  return table(head, titles.flatMap((title) => variants.map((each) => rowOf(each, base, { title, hasDatabase }))));
}

function rowOf(
  measured: MeasuredVariant,
  base: MeasuredVariant | undefined,
  { title, hasDatabase }: { readonly title: string; readonly hasDatabase: boolean },
): string[] {
  const own = measured.runs.get(title) ?? [];
  const rangeFor = (of: (run: ScaleRun) => number | null) => rangeOf(own.flatMap((one) => of(one) ?? []));
  const ratio = (of: (run: ScaleRun) => number | null) =>
    measured === base ? "1" : ranged(ratioOf(measured, base, title, of), 2);
  const share = (of: (run: ScaleRun) => number | null) => {
    const range = rangeFor(of);
    return range === null ? "–" : percent(range.median);
  };
  return [
    `${measured.variant.label}, ${title}`,
    ranged(rangeFor(({ repliesPerSecond }) => repliesPerSecond)),
    ratio(({ repliesPerSecond }) => repliesPerSecond),
    ranged(rangeFor(({ gatewayUs }) => gatewayUs)),
    ratio(({ gatewayUs }) => gatewayUs),
    ...hasDatabase ? [ranged(rangeFor(({ databaseUs }) => databaseUs))] : [],
    figure(rangeFor(({ p50Ms }) => p50Ms)?.median, 1),
    figure(rangeFor(({ p99Ms }) => p99Ms)?.median, 1),
    share(({ generatorShare }) => generatorShare),
    share(({ vendorShare }) => vendorShare),
    figure(own.reduce((sum, { failures }) => sum + failures, 0)),
  ];
}

function memoryTable(variants: readonly MeasuredVariant[]): string {
  const rows = variants.map(({ variant, idleBytes, loadedBytes }) => [
    variant.label,
    mebibytes(idleBytes),
    mebibytes(loadedBytes),
  ]);
  return table(["MiB", "at the start", "after the load"], rows);
}

function messagesSection(trips: readonly RoundTrip[]): string {
  const rows = trips.map(({ messages, cpuUs }) => [
    figure(messages),
    figure(cpuUs, 1),
    figure(cpuUs / (2 * messages), 1),
  ]);
  return `A message in a batch that is sent anyway adds **${
    figure(addedMessageUs(trips), 1)
  } µs** of processor time: writing, sending
and reading, of both threads. Measured with calls that reserve money and their results, through the outboxes and the
format of \`src/threads/serving\`, with nothing else in the process. Messages of one turn of the event loop are one batch.

${table(["Messages in a batch, each way", "CPU µs of the round trip", "CPU µs a message"], rows)}`;
}
