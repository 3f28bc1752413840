import type { Scenario } from "../cases.ts";
import type { Contender } from "../contenders.ts";
import { cpuUsPerChunk, cpuUsPerReply, oneWayP50Ms, oneWayP99Ms, p50Ms, p99Ms, repliesPerSecond } from "../contest.ts";
import { figure, ranged, table } from "../markdown.ts";
import { rangeOf } from "../statistics.ts";
import type { Outcome } from "./outcome.ts";

/** A table for each load, with medians and ranges over the rounds. */
export function loadTables(outcome: Outcome): string[] {
  return outcome.scenarios.flatMap((scenario) => [
    `### ${scenario.caseId === "translation" ? "Translation: " : ""}${scenario.title}`,
    scenario.load.kind === "rate"
      ? latencyTable(scenario, outcome)
      : scenario.load.kind === "streams"
      ? streamTable(scenario, outcome)
      : closedTable(scenario, outcome),
  ]);
}

function closedTable(scenario: Scenario, outcome: Outcome): string {
  const { figures } = outcome;
  const base = baseOf(scenario);
  const ofBase = base === "bare" ? "of bare Deno" : "of pass-through";
  const head = ["", "replies/s", ofBase, "CPU µs a reply", ofBase, "p50 ms", "p99 ms", "failed"];
  return table(
    head,
    contendersOf(scenario, outcome).map((contender) => {
      const { id } = contender;
      return [
        labelOf(contender, scenario),
        ranged(figures.range(id, scenario.id, repliesPerSecond)),
        figure(figures.ratio(id, base, scenario.id, repliesPerSecond)?.median, 2),
        ranged(figures.range(id, scenario.id, cpuUsPerReply)),
        ranged(figures.ratio(id, base, scenario.id, cpuUsPerReply), 2),
        figure(figures.median(id, scenario.id, p50Ms), 2),
        figure(figures.median(id, scenario.id, p99Ms), 2),
        failed(contender, scenario, outcome),
      ];
    }),
  );
}

function latencyTable(scenario: Scenario, outcome: Outcome): string {
  const { figures } = outcome;
  return table(
    ["", "p50 ms", "p99 ms", "p50 above bare Deno", "p99 above bare Deno", "CPU µs a reply", "failed"],
    contendersOf(scenario, outcome).map((contender) => {
      const { id } = contender;
      return [
        contender.label,
        ranged(figures.range(id, scenario.id, p50Ms), 2),
        ranged(figures.range(id, scenario.id, p99Ms), 2),
        id === "bare" ? "–" : ranged(figures.difference(id, "bare", scenario.id, p50Ms), 2),
        id === "bare" ? "–" : ranged(figures.difference(id, "bare", scenario.id, p99Ms), 2),
        ranged(figures.range(id, scenario.id, cpuUsPerReply)),
        failed(contender, scenario, outcome),
      ];
    }),
  );
}

function streamTable(scenario: Scenario, outcome: Outcome): string {
  const { figures } = outcome;
  const base = baseOf(scenario);
  const ofBase = base === "bare" ? "of bare Deno" : "of pass-through";
  return table(
    [
      "",
      "CPU µs a chunk",
      ofBase,
      "one-way p50 ms",
      "one-way p99 ms",
      "gaps above 40 ms, of 1,000",
      "largest gap ms",
      "failed",
    ],
    contendersOf(scenario, outcome).map((contender) => {
      const { id } = contender;
      const runs = figures.runs(id, scenario.id).filter(({ gaps }) => gaps.count > 0);
      return [
        labelOf(contender, scenario),
        ranged(figures.range(id, scenario.id, cpuUsPerChunk)),
        ranged(figures.ratio(id, base, scenario.id, cpuUsPerChunk), 2),
        figure(figures.median(id, scenario.id, oneWayP50Ms), 2),
        figure(figures.median(id, scenario.id, oneWayP99Ms), 2),
        figure(rangeOf(runs.map(({ gaps }) => gaps.late / gaps.count * 1000))?.median, 2),
        figure(rangeOf(runs.map(({ gaps }) => gaps.ms?.max ?? 0))?.max),
        failed(contender, scenario, outcome),
      ];
    }),
  );
}

function baseOf({ contenders }: Scenario): "bare" | "pass" {
  return contenders === "directions" ? "pass" : "bare";
}

function contendersOf(scenario: Scenario, { fields, figures }: Outcome): readonly Contender[] {
  return fields[scenario.contenders].filter(({ id }) => figures.runs(id, scenario.id).length > 0);
}

function labelOf({ id, label }: Contender, { contenders }: Scenario): string {
  return contenders === "directions" && id === "pass" ? "chat to chat, passed through" : label;
}

function failed({ id }: Contender, scenario: Scenario, { figures }: Outcome): string {
  return figure(figures.runs(id, scenario.id).reduce((sum, { failures }) => sum + failures, 0));
}
