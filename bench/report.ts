import { CHUNKS_PER_STREAM } from "./load_request.ts";
import type { Capacity } from "./capacity.ts";
import type { Contender, ContenderId } from "./contenders.ts";
import type { ContenderResult, Figures, ScenarioId } from "./contest.ts";
import type { Machine } from "./machine.ts";
import { figure, mebibytes, percent, signed, table } from "./markdown.ts";
import { targetsOf } from "./targets.ts";
import type { ProcessState } from "./process_state.ts";
import type { LoadProfile } from "./profiling.ts";
import type { Share } from "./profile.ts";

/** All results of a run. */
export interface Outcome {
  readonly machine: Machine;
  readonly date: Date;
  /** The method of the measurement, one paragraph each. */
  readonly method: readonly string[];
  readonly contenders: readonly Contender[];
  readonly figures: Figures;
  readonly capacities: ReadonlyMap<ContenderId, Capacity>;
  readonly memory: readonly MemoryUse[];
  /** Replies that were counted at the gateway, and the number that its ledger charged for. */
  readonly charges: { readonly counted: number; readonly charged: number };
  /** One sentence each: contenders that could not take part, and other notes on the figures. */
  readonly remarks: readonly string[];
  readonly profiles: readonly LoadProfile[];
}

/** A server's memory before its first request, and after all of them; null where it cannot be measured. */
export interface MemoryUse {
  readonly name: string;
  readonly idle: ProcessState | null;
  readonly after: ProcessState | null;
}

/** The report as Markdown. */
export function writeReport(outcome: Outcome): string {
  return [
    "# Results",
    "Written by `deno task bench`. Rates and times depend on the machine; compare the ratios. Comparison of the " +
    "gateway's HTTP client with others: [RESULTS-clients.md](RESULTS-clients.md).",
    machineTable(outcome),
    "## Targets",
    marksTable(outcome.figures),
    "## Method",
    ...outcome.method,
    outcome.remarks.map((remark) => `- ${remark}`).join("\n"),
    "## Whole JSON responses",
    jsonTable(outcome),
    "Added is the difference to no proxy, at the median and at the 99th percentile.",
    "## Streams sent at once",
    burstTable(outcome),
    "## Time to the first token, and paced streams",
    pacedTable(outcome),
    "## Memory",
    memoryTable(outcome),
    "## Charges",
    chargesText(outcome),
    "## Where the time goes",
    ...profileTexts(outcome.profiles),
  ].join("\n\n") + "\n";
}

function machineTable({ machine, date }: Outcome): string {
  return table(["Machine", ""], [
    ["Processor", `${machine.cpu}, ${machine.cores} cores`],
    ["Memory", `${mebibytes(machine.memoryBytes)} MiB`],
    ["System", machine.system],
    ["Deno", machine.deno],
    ["Switchyard", machine.switchyard],
    ["4 KB made durable (fdatasync, median)", `${figure(machine.fsyncMs, 3)} ms`],
    ["Date", date.toISOString().slice(0, 10)],
  ]);
}

function marksTable(figures: Figures): string {
  const rows = targetsOf(figures).map(({ text, measured, isMet }) => [
    text,
    measured ?? "–",
    isMet === null ? "not measured" : isMet ? "met" : "missed",
  ]);
  return table(["Target", "Measured", "Result"], rows);
}

function jsonTable({ contenders, figures }: Outcome): string {
  const added = (id: ContenderId, scenario: ScenarioId) => {
    const over = (of: (run: ContenderResult) => number | undefined) => {
      const [own, direct] = [figures.median(id, scenario, of), figures.median("direct", scenario, of)];
      return id === "direct" ? own : own === null || direct === null ? null : own - direct;
    };
    const spread = [over((run) => run.wholeMs?.p50), over((run) => run.wholeMs?.p99)];
    return spread.map((span) => id === "direct" ? figure(span, 2) : signed(span, 2)).join(" / ");
  };
  const rate = (id: ContenderId, scenario: ScenarioId) =>
    figure(figures.median(id, scenario, (run) => run.repliesPerSecond));
  const head = [
    "",
    "replies/s, 32 conns",
    "of a",
    "replies/s, 128",
    "of a",
    "added ms, 1",
    "added ms, 32",
    "CPU ms/reply",
  ];
  return table(
    head,
    contenders.map(({ id, label }) => [
      label,
      rate(id, "json_32"),
      ofBare(figures, id, "json_32"),
      rate(id, "json_128"),
      ofBare(figures, id, "json_128"),
      added(id, "json_1"),
      added(id, "json_32"),
      figure(figures.median(id, "json_32", (run) => run.cpuMsPerReply), 3),
    ]),
  );
}

function burstTable({ contenders, figures }: Outcome): string {
  const rows = contenders.map(({ id, label }) => {
    const streams = figures.median(id, "burst", (run) => run.repliesPerSecond);
    return [
      label,
      figure(streams),
      figure(streams === null ? null : streams * CHUNKS_PER_STREAM),
      ofBare(figures, id, "burst"),
      figure(figures.median(id, "burst", (run) => run.cpuMsPerReply), 2),
    ];
  });
  return table(["16 connections", "streams/s", "chunks/s", "of a", "CPU ms/stream"], rows);
}

function pacedTable({ contenders, figures, capacities }: Outcome): string {
  const head = [
    "",
    "first token p50 / p99 ms",
    "gap p50 / p99 ms, 40 streams",
    "CPU ms/stream",
    "max streams",
    "gap p99 at max",
  ];
  const rows = contenders.map(({ id, label }) => {
    const spread = (scenario: ScenarioId, of: "firstMs" | "gapMs") =>
      (["p50", "p99"] as const).map((rank) => figure(figures.median(id, scenario, (run) => run[of]?.[rank]), 2)).join(
        " / ",
      );
    const capacity = capacities.get(id);
    const maxStreams = capacity === undefined ? "–" : `${capacity.isOpenEnded ? "≥ " : ""}${capacity.streams}`;
    return [
      label,
      spread("brief", "firstMs"),
      spread("paced", "gapMs"),
      figure(figures.median(id, "paced", (run) => run.cpuMsPerReply), 1),
      maxStreams,
      figure(capacity?.gapP99Ms, 1),
    ];
  });
  return table(head, rows);
}

function ofBare(figures: Figures, id: ContenderId, scenario: ScenarioId): string {
  return id === "bare" ? "1" : figure(figures.ratioToBare(id, scenario), 2);
}

function memoryTable({ memory }: Outcome): string {
  const rows = memory.map(({ name, idle, after }) => [
    name,
    mebibytes(idle?.residentBytes),
    mebibytes(after?.peakBytes),
    mebibytes(after?.residentBytes),
  ]);
  return table(["Resident MiB", "idle", "peak, under load", "after"], rows);
}

function chargesText({ charges: { counted, charged } }: Outcome): string {
  const found = `The generators counted ${
    figure(counted)
  } whole responses of the gateway. Its ledger has the charges of ${figure(charged)}.`;
  // Half a reply for what is lost in rounding.
  if (charged + 0.5 < counted) return `${found} **Some responses were not charged.**`;
  return `${found} The difference has two causes: open requests when a generator ended, and the first requests, ` +
    "which check the set-up.";
}

function profileTexts(profiles: readonly LoadProfile[]): string[] {
  const texts = profiles.flatMap(({ title, spent }) => [
    `### ${title}`,
    `Outside JavaScript: ${percent(spent.outside)} of the time. The shares below are of the rest.`,
    shareTable("In the function itself", spent.self),
    shareTable("With its callees, up to where it waits", spent.inclusive),
  ]);
  return [
    "From CPU profiles of the gateway's main thread. Time outside JavaScript is waiting, Deno's own code, or the " +
    "kernel.",
    ...texts,
  ];
}

function shareTable(title: string, shares: readonly Share[]): string {
  return table([title, "share"], shares.map(({ label, share }) => [`\`${label}\``, percent(share)]));
}
