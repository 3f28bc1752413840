import { assert, assertEquals, assertStringIncludes } from "@std/assert";
import { ObserveFigures, observeReport, type VariantId, VARIANTS, verdictOf } from "../../bench/observe_report.ts";
import { type Interval, intervalOf, medianOf } from "../../bench/statistics.ts";

/** A generator of random numbers that repeats, mulberry32. */
function seeded(seed: number): () => number {
  let state = seed;
  return () => {
    state = (state + 0x6D2B79F5) | 0;
    let mixed = Math.imul(state ^ (state >>> 15), 1 | state);
    mixed = (mixed + Math.imul(mixed ^ (mixed >>> 7), 61 | mixed)) ^ mixed;
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 4_294_967_296;
  };
}

const CPU: Readonly<Record<VariantId, number>> = { off: 200, again: 200, metrics: 202, log: 212, both: 214 };

/** Rounds on a machine that becomes slower, with an error of some percent in each of them. */
function figuresOf(cpu: Readonly<Record<VariantId, number>>, error: number): ObserveFigures {
  const figures = new ObserveFigures();
  const random = seeded(1);
  for (let start = 1; start <= 4; start++) {
    for (let round = 0; round < 12; round++) {
      for (const { id } of VARIANTS) {
        const cpuUs = cpu[id] * (1 + round / 10) * (1 + (random() - 0.5) * error);
        for (const load of ["json", "paced"] as const) {
          figures.add({ load, variant: id, start }, { allUs: cpuUs, mainUs: cpuUs * 0.9 });
        }
      }
    }
  }
  return figures;
}

Deno.test("intervalOf() contains what samples are drawn around, nearly always, and is narrower for more values", () => {
  const random = seeded(2);
  const intervals = (count: number) =>
    Array.from({ length: 40 }, () => {
      const groups = Array.from({ length: 4 }, () => Array.from({ length: count }, random));
      return intervalOf(groups, random)!;
    });
  const widthOf = (found: readonly Interval[]) => medianOf(found.map(({ low, high }) => high - low))!;
  const [few, many] = [intervals(5), intervals(80)];
  for (const found of [few, many]) assert(found.filter(({ low, high }) => low < 0.5 && 0.5 < high).length >= 35);
  assert(widthOf(many) < widthOf(few) / 2);
  assertEquals(intervalOf([[], []]), null);
});

Deno.test("intervalOf() is as wide as the groups differ, however many values each has", () => {
  const groups = [1, 2, 3, 4].map((middle) => Array.from({ length: 200 }, () => middle));
  const { low, high } = intervalOf(groups, seeded(3))!;
  assert(low <= 2 && high >= 3, `${low} to ${high}`);
});

Deno.test("verdictOf() decides only if the whole interval is on one side of the bound", () => {
  const interval = (low: number, high: number) => ({ median: (low + high) / 2, low, high });
  assertEquals(verdictOf(interval(1.01, 1.08), 1.08), "met");
  assertEquals(verdictOf(interval(1.07, 1.09), 1.08), "not decided");
  assertEquals(verdictOf(interval(1.09, 1.1), 1.08), "**missed**");
});

Deno.test("ObserveFigures.ratio() finds a ratio of 1.07 in rounds that differ by some percent and drift by more", () => {
  const { median, low, high } = figuresOf(CPU, 0.05).ratio("json", "both", "allUs", seeded(4))!;
  assert(low < 1.07 && 1.07 < high && high < 1.09 && median < 1.08, `${median} (${low} to ${high})`);
});

Deno.test("observeReport() says met, missed or not decided", () => {
  const report = (cpu: Readonly<Record<VariantId, number>>, error: number) =>
    observeReport({
      figures: figuresOf(cpu, error),
      machine: { cpu: "x", cores: 2, memoryBytes: 1, system: "x", deno: "2", switchyard: "0", fsyncMs: 1 },
      date: new Date(0),
      starts: 4,
      seconds: 2,
    });
  const lineOf = (text: string) => text.split("\n").find((line) => line.startsWith("| JSON of 1 KB, metrics and"))!;
  assertStringIncludes(lineOf(report({ ...CPU, both: 206 }, 0.02)), "| met |");
  assertStringIncludes(lineOf(report({ ...CPU, both: 230 }, 0.02)), "| **missed** |");
  assertStringIncludes(lineOf(report({ ...CPU, both: 216 }, 0.2)), "| not decided |");
});
