import type { Machine } from "./machine.ts";
import { figure, mebibytes, ranged, table } from "./markdown.ts";
import { addedMessageUs, type RoundTrip } from "./message_cost.ts";
import type { ScaleRun } from "./scale_runs.ts";
import type { Variant } from "./scale_variants.ts";
import { rangeOf } from "./statistics.ts";

/** A variant with its results. */
export interface MeasuredVariant {
  readonly variant: Pick<Variant, "label"> & { readonly database: object | null };
  /** Some seconds after the start. */
  readonly idleBytes: number | null;
  loadedBytes: number | null;
  /** The results of each round by number of connections. */
  readonly runs: Map<number, ScaleRun[]>;
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

/** The highest ratio of processor time with several threads to that with one. */
const TARGET = 1.15;

/** The text of `RESULTS-scale.md`. */
export function scaleReport(figures: ScaleFigures): string {
  const { variants, machine, generator, trips, postgres } = figures;
  const [inFile, inDatabase] = [variants.filter(isInFile), variants.filter((each) => !isInFile(each))];
  return `# Results: threads that accept connections, and gateways on PostgreSQL

JSON of 1 KB, on ${new Date().toISOString().slice(0, 10)}: ${machine.cpu}, ${machine.cores} cores, ${machine.system},
Deno ${machine.deno}.

No process is pinned to a core. The upstream, the generator (${generator}) and the database server share the
${machine.cores} cores with the gateways, so replies per second are those of a machine with fewer cores, and the times
of replies include the wait for a core. Compare processor time: it is that of all threads of all gateways of a row, and
of the kernel for them.

## Threads, with the store in a file

The target is at most ${TARGET} × the processor time of one thread.

${loadTable(inFile, variants[0])}

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

${loadTable(variants, base)}`;
}

function loadTable(variants: readonly MeasuredVariant[], base: MeasuredVariant | undefined): string {
  const hasDatabase = variants.some((each) => !isInFile(each));
  const head = [
    "",
    "Replies/s",
    "CPU µs a request",
    "of one thread",
    ...hasDatabase ? ["server's µs"] : [],
    "p50 ms",
    "p99 ms",
    "failures",
  ];
  const connections = [...new Set(variants.flatMap(({ runs }) => [...runs.keys()]))];
  return table(
    head,
    connections.flatMap((count) => variants.map((each) => rowOf(each, base, { count, hasDatabase }))),
  );
}

function rowOf(
  measured: MeasuredVariant,
  base: MeasuredVariant | undefined,
  { count, hasDatabase }: { readonly count: number; readonly hasDatabase: boolean },
): string[] {
  const own = measured.runs.get(count) ?? [];
  const others = base?.runs.get(count) ?? [];
  const rangeFor = (of: (run: ScaleRun) => number | null) => rangeOf(own.flatMap((one) => of(one) ?? []));
  const ratios = own.flatMap(({ gatewayUs }, round) => {
    const other = others[round]?.gatewayUs;
    return gatewayUs !== null && other ? [gatewayUs / other] : [];
  });
  return [
    `${measured.variant.label}, ${count} connections`,
    ranged(rangeFor(({ repliesPerSecond }) => repliesPerSecond)),
    ranged(rangeFor(({ gatewayUs }) => gatewayUs)),
    measured === base ? "1" : ranged(rangeOf(ratios), 2),
    ...hasDatabase ? [ranged(rangeFor(({ databaseUs }) => databaseUs))] : [],
    figure(rangeFor(({ p50Ms }) => p50Ms)?.median, 1),
    figure(rangeFor(({ p99Ms }) => p99Ms)?.median, 1),
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
