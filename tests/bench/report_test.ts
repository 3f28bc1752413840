import { assert, assertEquals, assertRejects } from "@std/assert";
import { type ScenarioId, SCENARIOS } from "../../bench/cases.ts";
import { type Contender, type ContenderId, DIRECTIONS } from "../../bench/contenders.ts";
import { type ContenderResult, Figures, repliesPerSecond, unlessFaulty } from "../../bench/contest.ts";
import { marksOf } from "../../bench/report/marks.ts";
import type { Outcome } from "../../bench/report/outcome.ts";
import { writeReport } from "../../bench/report/report.ts";
import { shuffled } from "../../bench/shuffled.ts";
import { lastSustained, type StreamLimit } from "../../bench/stream_steps.ts";

function result(cpuUsPerReply: number, repliesPerSecond: number): ContenderResult {
  return {
    replies: 1000,
    failures: 0,
    elapsedMs: 1000,
    wholeMs: { p50: 1, p99: 2, max: 3 },
    gaps: { count: 0, late: 0, ms: null },
    oneWayMs: null,
    repliesPerSecond,
    cpuUsPerReply,
  };
}

function contender(id: ContenderId, label: string): Contender {
  const request = { port: 1, path: "/", headers: {}, body: "" };
  return { id, label, server: null, ask: () => request };
}

function outcomeOf(figures: Figures, scenarioIds: readonly ScenarioId[]): Outcome {
  const pass = contender("pass", "Switchyard");
  return {
    machine: { cpu: "x", cores: 2, memoryBytes: 1, system: "x", deno: "2", switchyard: "0", fsyncMs: 1 },
    date: new Date(0),
    minutes: 1,
    rounds: 1,
    seconds: 1,
    cores: { server: 0, upstream: 1, load: 1, description: "Pinned." },
    generators: { closed: "wrk", timed: "generator" },
    nativeFault: null,
    fields: { rivals: [contender("bare", "bare Deno"), pass], directions: [pass] },
    scenarios: SCENARIOS.filter(({ id }) => scenarioIds.includes(id)),
    figures,
    limits: new Map(),
    maxStreams: 1000,
    memory: [],
    isMemoryAfterMinute: true,
    charges: { counted: 10, charged: 10 },
    remarks: [],
    profiles: [],
    pieces: [],
    garbage: null,
  };
}

Deno.test("marksOf() has missed marks first and unmeasured ones last", () => {
  const figures = new Figures();
  figures.add("bare", "json_32", result(100, 1000));
  figures.add("pass", "json_32", result(105, 700));
  const marks = marksOf(outcomeOf(figures, ["json_32"]));
  assertEquals(marks.slice(0, 3).map(({ isMet, measured }) => [isMet, measured]), [
    [false, "0.70 ×"],
    [true, "1.00 ×"],
    [null, null],
  ]);
});

Deno.test("marksOf() judges translation by the most expensive direction", () => {
  const figures = new Figures();
  figures.add("pass", "translate_json", result(100, 1000));
  DIRECTIONS.forEach(({ id }, index) => figures.add(id, "translate_json", result(100 + index * 15, 1000)));
  const [mark] = marksOf(outcomeOf(figures, [])).filter(({ measured }) => measured !== null);
  assert(mark?.text.includes("messages to content"), mark?.text);
  assertEquals([mark?.measured, mark?.isMet], ["1.75 ×", false]);
});

Deno.test("marksOf() compares streams at once within each turn, and not where they were not tried", () => {
  const outcome = outcomeOf(new Figures(), []);
  const markWith = (own: readonly number[], bare: readonly number[]) => {
    const limitOf = (turns: readonly number[]) => ({ turns, largestGapMs: null });
    const limits = new Map<ContenderId, StreamLimit>([["pass", limitOf(own)], ["bare", limitOf(bare)]]);
    const [mark] = marksOf({ ...outcome, limits }).filter(({ text }) => text.startsWith("Paced streams at once"));
    return [mark?.measured, mark?.isMet];
  };
  assertEquals(markWith([500, 300, 200], [1000, 1000, 400]), ["0.50 ×", true]);
  assertEquals(markWith([300, 300], [1000, 1000]), ["0.30 ×", false]);
  assertEquals(markWith([], []), [null, null]);
});

Deno.test("marksOf() judges the memory of a gateway with one provider, and only after its waits", () => {
  const state = (residentBytes: number) => ({ cpuMs: 1, residentBytes, peakBytes: residentBytes });
  const memory = [
    { name: "Switchyard", idle: state(2 ** 27), after: state(2 ** 27) },
    { name: "Switchyard, one provider", idle: state(90 * 2 ** 20), after: null },
  ];
  const judged = (isMemoryAfterMinute: boolean) =>
    marksOf({ ...outcomeOf(new Figures(), []), memory, isMemoryAfterMinute })
      .flatMap(({ text, measured }) => text.startsWith("Memory") && measured !== null ? [measured] : []);
  assertEquals(judged(true), ["90 MiB", "128 MiB"]);
  assertEquals(judged(false), []);
});

Deno.test("lastSustained() finds the last step that is sustained", async () => {
  const steps = [100, 150, 200, 300, 400];
  for (const [limit, expected] of [[99, 0], [100, 100], [250, 200], [1000, 400]] as const) {
    assertEquals(await lastSustained(steps, (streams) => Promise.resolve(streams <= limit)), expected);
  }
  assertEquals(await lastSustained([], () => Promise.reject(new Error("a step that there is not"))), 0);
});

Deno.test("shuffled() keeps every item, in an order that chance decides", () => {
  const random = [0.9, 0.1, 0.5].values();
  assertEquals(shuffled(["a", "b", "c"], () => random.next().value ?? 0), ["b", "c", "a"]);
});

Deno.test("Figures compares within each round, and a contender of one round with all rounds of another", () => {
  const figures = new Figures();
  for (const rate of [100, 200, 400]) figures.add("bare", "json_32", result(1, rate));
  for (const rate of [50, 200, 100]) figures.add("pass", "json_32", result(1, rate));
  figures.add("direct", "json_32", result(1, 1000));
  assertEquals(figures.ratio("pass", "bare", "json_32", repliesPerSecond), { median: 0.5, min: 0.25, max: 1 });
  assertEquals(figures.ratio("bare", "direct", "json_32", repliesPerSecond)?.max, 0.4);
});

Deno.test("writeReport() begins with the marks and leaves out what was not measured", () => {
  const figures = new Figures();
  figures.add("bare", "json_32", result(100, 1000));
  figures.add("pass", "json_32", result(300, 500));
  const report = writeReport(outcomeOf(figures, ["json_32"]));
  const headings = [...report.matchAll(/^#+ .*$/gm)].map(([heading]) => heading);
  assertEquals(headings, [
    "# Results",
    "## Comparison",
    "## Method",
    "## Each load, with ranges",
    "### JSON of 1 KB, 32 connections",
  ]);
  assert(report.indexOf("**missed**") < report.indexOf("## Comparison"));
  assert(!report.includes("request of 1 MB, CPU"), "a line without figures");
});

Deno.test("unlessFaulty() leaves out a peer that fails under load, and no one else", async () => {
  const faults = new Map<string, string>();
  const fails = () => Promise.reject(new Error("it ended\nwith a trace"));
  assertEquals(await unlessFaulty(contender("portkey", "Portkey"), "paced", { faults }, fails), null);
  assertEquals([...faults], [["portkey/paced", "failed under load: Error: it ended"]]);
  assertEquals(await unlessFaulty(contender("portkey", "Portkey"), "json", { faults }, () => Promise.resolve(1)), 1);
  await assertRejects(
    () => unlessFaulty(contender("pass", "Switchyard"), "json", { faults }, fails),
    Error,
    "it ended",
  );
});
