import { figure, mebibytes, table } from "../markdown.ts";
import { comparisonTable } from "./comparison.ts";
import { loadTables } from "./load_tables.ts";
import { marksOf } from "./marks.ts";
import { methodOf } from "./method.ts";
import type { Outcome } from "./outcome.ts";
import { piecesTable } from "./pieces_table.ts";
import { profileTexts } from "./profile_texts.ts";
import { streamsOf } from "../stream_steps.ts";

/** The report as Markdown. What a reader needs is on its first screen; parts that were not measured are left out. */
export function writeReport(outcome: Outcome): string {
  return [
    "# Results",
    opening(outcome),
    marksTable(outcome),
    "## Comparison",
    "Medians. CPU is processor time of all threads and of the kernel for them. Added latency is the difference to no " +
    "proxy in the same round.",
    comparisonTable(outcome),
    outcome.remarks.map((remark) => `- ${remark}`).join("\n"),
    ...piecesTable(outcome.pieces),
    "## Method",
    ...methodOf(outcome),
    machineTable(outcome),
    chargesText(outcome),
    "## Each load, with ranges",
    ...loadTables(outcome),
    ...sustainedTable(outcome),
    ...memoryTable(outcome),
    ...garbageTable(outcome),
    ...profileTexts(outcome.profiles),
  ].filter((text) => text !== "").join("\n\n") + "\n";
}

function opening(outcome: Outcome): string {
  const marks = marksOf(outcome);
  const count = (isMet: boolean | null) => marks.filter((mark) => mark.isMet === isMet).length;
  const unmeasured = count(null) === 0 ? "" : ` ${count(null)} not measured in this run.`;
  return `Switchyard as in production (keys, balance, limits and ledger on, store on disk) beside proxies that only ` +
    `copy bytes, each alone on one core, on ${outcome.date.toISOString().slice(0, 10)}. ` +
    `**${count(false)} of ${marks.length} marks are missed, ${count(true)} are met.**${unmeasured} ` +
    "Ratios hold between machines; absolute figures do not. Before: the figures of 2026-11-27.";
}

function marksTable(outcome: Outcome): string {
  const rows = marksOf(outcome).map(({ text, target, before, measured, isMet }) => [
    text,
    target,
    before ?? "–",
    measured ?? "–",
    isMet === null ? "not measured" : isMet ? "met" : "**missed**",
  ]);
  return table(["Mark", "Target", "Before", "Now", "Result"], rows);
}

function machineTable({ machine, date, minutes }: Outcome): string {
  return table(["Machine", ""], [
    ["Processor", `${machine.cpu}, ${machine.cores} cores`],
    ["Memory", `${mebibytes(machine.memoryBytes)} MiB`],
    ["System", machine.system],
    ["Deno", machine.deno],
    ["Switchyard", machine.switchyard],
    ["4 KB made durable (fdatasync, median)", `${figure(machine.fsyncMs, 3)} ms`],
    ["Date", date.toISOString().slice(0, 10)],
    ["Duration of the run", `${figure(minutes)} minutes`],
  ]);
}

function sustainedTable({ fields, limits }: Outcome): string[] {
  const rows = fields.rivals.flatMap(({ id, label }) => {
    const turns = limits.get(id)?.turns;
    return turns === undefined
      ? []
      : [[label, figure(streamsOf(limits.get(id))), turns.map((one) => figure(one)).join(" ")]];
  });
  if (rows.length === 0) return [];
  return ["### Paced streams at once", table(["Sustained", "median", "in each turn"], rows)];
}

function memoryTable({ memory, isMemoryAfterMinute }: Outcome): string[] {
  if (memory.length === 0) return [];
  const rows = memory.map(({ name, idle, after }) => [
    name,
    mebibytes(idle?.residentBytes),
    mebibytes(after?.peakBytes),
    mebibytes(after?.residentBytes),
  ]);
  const titles = isMemoryAfterMinute
    ? ["half a minute after the start", "peak, under load", "one minute after the load"]
    : ["right after the start", "peak, under load", "right after the load"];
  return ["### Memory", "Of each server and its child processes.", table(["Resident MiB", ...titles], rows)];
}

function garbageTable({ garbage }: Outcome): string[] {
  if (garbage === null) return [];
  const rows = [
    ["JSON request of 1 KB", figure(garbage.requestBytes)],
    ["chunk of a stream that passes through", figure(garbage.chunkBytes)],
    ["chunk of a proxy in JavaScript that only hands on what it reads", figure(garbage.bareChunkBytes)],
  ];
  return ["### Garbage", "Allocated on V8's heap, one request or chunk at a time.", table(["", "bytes"], rows)];
}

function chargesText({ figures, charges: { counted, charged } }: Outcome): string {
  const failures = figures.failuresOf("pass");
  const found = `The generators counted ${figure(counted)} whole responses of the gateway${
    failures === 0 ? "" : ` and ${figure(failures)} failures`
  }. Its ledger has the charges of ${figure(charged)}.`;
  // Half a reply for what is lost in rounding.
  if (charged + 0.5 < counted) return `${found} **Some responses were not charged.**`;
  return `${found} The difference has two causes: open requests when a generator ended, and the first requests, ` +
    "which check the set-up.";
}
