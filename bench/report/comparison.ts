import type { ScenarioId } from "../cases.ts";
import type { Contender } from "../contenders.ts";
import { cpuUsPerChunk, cpuUsPerReply, oneWayP99Ms, p50Ms, p99Ms, type Reading, repliesPerSecond } from "../contest.ts";
import { figure, mebibytes, signed, table } from "../markdown.ts";
import { GAP_STREAMS, streamsOf } from "../stream_steps.ts";
import { BEFORE } from "./before.ts";
import type { Outcome } from "./outcome.ts";

interface Row {
  readonly title: string;
  readonly before: string;
  readonly cell: (contender: Contender) => string;
}

/** One line for each kind of load, a column for each contender, and Switchyard before the work on the request path. */
export function comparisonTable(outcome: Outcome): string {
  // Switchyard first, and last the connection without a proxy: the limit of upstream and generator.
  const rank = ({ id }: Contender) => id === "pass" ? 0 : id === "direct" ? 2 : 1;
  const contenders = outcome.fields.rivals.toSorted((one, other) => rank(one) - rank(other));
  const rows = rowsOf(outcome)
    .map(({ title, before, cell }) => [title, before, ...contenders.map(cell)])
    .filter((cells) => cells.slice(2).some((cell) => !/^–( \/ –)?$/.test(cell)));
  return table(["", "Switchyard before", ...contenders.map(({ label }) => label)], rows);
}

function rowsOf({ figures, limits, memory, maxStreams }: Outcome): Row[] {
  const median = (scenario: ScenarioId, of: Reading, decimals = 0) => ({ id }: Contender) =>
    figure(figures.median(id, scenario, of), decimals);
  const added = ({ id }: Contender) =>
    [p50Ms, p99Ms].map((of) =>
      id === "direct"
        ? figure(figures.median(id, "latency", of), 2)
        : signed(figures.difference(id, "direct", "latency", of)?.median ?? null, 2)
    ).join(" / ");
  const sustained = ({ id }: Contender) => {
    const streams = streamsOf(limits.get(id));
    return `${streams === maxStreams ? "≥ " : ""}${figure(streams)}`;
  };
  const idle = ({ label }: Contender) =>
    mebibytes(memory.find(({ name }) => name === label)?.idle?.residentBytes ?? null);
  return [
    {
      title: "JSON of 1 KB, 32 connections, replies/s",
      before: figure(BEFORE.repliesPerSecond),
      cell: median("json_32", repliesPerSecond),
    },
    { title: "… CPU µs a request", before: figure(BEFORE.cpuUs), cell: median("json_32", cpuUsPerReply) },
    { title: "… p99 ms", before: "–", cell: median("json_32", p99Ms, 1) },
    { title: "JSON of 1 KB, 128 connections, replies/s", before: "–", cell: median("json_128", repliesPerSecond) },
    { title: "… CPU µs a request", before: "–", cell: median("json_128", cpuUsPerReply) },
    {
      title: "added at 200 requests/s, p50 / p99 ms",
      before: `${signed(BEFORE.addedP50Ms, 2)} / ${signed(BEFORE.addedP99Ms, 2)}`,
      cell: added,
    },
    {
      title: "one connection, closed loop, p50 / p99 ms",
      before: "–",
      cell: (contender) => [p50Ms, p99Ms].map((of) => median("closed_1", of, 2)(contender)).join(" / "),
    },
    {
      title: "request of 100 KB, CPU µs",
      before: figure(BEFORE.body100kUs),
      cell: median("body_100k", cpuUsPerReply),
    },
    { title: "request of 1 MB, CPU µs", before: figure(BEFORE.body1mUs), cell: median("body_1m", cpuUsPerReply) },
    {
      title: "64 chunks paced at 20 ms: CPU µs a chunk",
      before: figure(BEFORE.chunkUs),
      cell: median("paced", cpuUsPerChunk),
    },
    { title: "… one-way p99 ms, 100 streams", before: "–", cell: median("paced", oneWayP99Ms, 1) },
    { title: "… one-way p99 ms, 200 streams", before: "–", cell: median("paced_200", oneWayP99Ms, 1) },
    { title: "… streams at once with under 1 gap in 1,000 above 40 ms", before: BEFORE.streams, cell: sustained },
    {
      title: `… largest gap with ${figure(GAP_STREAMS)} streams, ms`,
      before: "–",
      cell: ({ id }) => figure(limits.get(id)?.largestGapMs),
    },
    { title: "idle memory, MiB", before: figure(BEFORE.idleMiB), cell: idle },
  ];
}
