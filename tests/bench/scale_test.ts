import { assertEquals, assertStringIncludes } from "@std/assert";
import { addedMessageUs, measureRoundTrips } from "../../bench/message_cost.ts";
import { readFamilyCpuMs } from "../../bench/process_state.ts";
import { type MeasuredVariant, scaleReport } from "../../bench/scale_report.ts";
import type { ScaleRun } from "../../bench/scale_runs.ts";

const MACHINE = {
  cpu: "EPYC",
  cores: 2,
  memoryBytes: 1,
  system: "linux",
  deno: "2.9.6",
  switchyard: "0.1.0",
  fsyncMs: 1,
};
const TRIPS = [{ messages: 1, cpuUs: 30 }, { messages: 64, cpuUs: 282 }];

function runOf(gatewayUs: number | null, databaseUs: number | null): ScaleRun {
  return {
    ...{ repliesPerSecond: 4_000, gatewayUs, databaseUs, p50Ms: 8, p99Ms: 20, failures: 0 },
    ...{ generatorShare: 0.2, vendorShare: 0.05 },
  };
}

function measured(label: string, run: ScaleRun, database: MeasuredVariant["variant"]["database"]): MeasuredVariant {
  const runs = new Map([["32 connections", [run, run]]]);
  if (database === null) runs.set("1 MB, 120/s", [run]);
  return { variant: { label, database }, idleBytes: 2 ** 27, loadedBytes: 2 ** 28, runs };
}

const VARIANTS = [
  measured("1 thread", runOf(200, null), null),
  measured("2 threads", runOf(230, null), null),
  measured("2 gateways, `power`", runOf(260, 90), {}),
];

Deno.test("scaleReport() compares threads and gateways with one thread, with the database's time apart", () => {
  const postgres = { version: "15.18" };
  const text = scaleReport({ variants: VARIANTS, machine: MACHINE, trips: TRIPS, generator: "wrk", postgres });
  assertStringIncludes(
    text,
    "| 2 threads, 32 connections | 4,000 | 1.00 | 230 | 1.15 | 8.0 | 20.0 | 20.0 % | 5.0 % | 0 |",
  );
  assertStringIncludes(
    text,
    "| 2 gateways, `power`, 32 connections | 4,000 | 1.00 | 260 | 1.30 | 90 | 8.0 | 20.0 | 20.0 % | 5.0 % | 0 |",
  );
  assertStringIncludes(text, "PostgreSQL 15.18");
  assertStringIncludes(text, "adds **2.0 µs** of processor time");
});

Deno.test("scaleReport() has the missed targets of large bodies first", () => {
  const postgres = { why: "none" };
  const text = scaleReport({ variants: VARIANTS, machine: MACHINE, trips: TRIPS, generator: "wrk", postgres });
  const targets = text.split("\n").filter((line) => line.includes("of one thread's"));
  assertEquals(targets, [
    "| 1 MB, 120/s, 2 threads: CPU of a request, of one thread's | at most 1.10 × | 1.15 × | **missed** |",
    "| 1 MB, 120/s, 2 threads: p99, of one thread's | at most 1.00 × | 1.00 × | met |",
  ]);
});

Deno.test("scaleReport() says why gateways on PostgreSQL were not measured", () => {
  const postgres = { why: "Error: npm pack failed" };
  const report = { variants: VARIANTS.slice(0, 2), machine: MACHINE, trips: TRIPS, generator: "wrk", postgres };
  assertStringIncludes(scaleReport(report), "no PostgreSQL server could be started: Error: npm pack failed.");
});

Deno.test("measureRoundTrips() measures batches of several sizes", async () => {
  const trips = await measureRoundTrips(100);
  assertEquals(trips.map(({ messages }) => messages), [1, 8, 64]);
  for (const { cpuUs } of trips) assertEquals(Number.isFinite(cpuUs) && cpuUs > 0, true, String(cpuUs));
});

Deno.test("addedMessageUs() is null without two sizes", () => {
  assertEquals(addedMessageUs(TRIPS.slice(0, 1)), null);
  assertEquals(addedMessageUs([]), null);
});

Deno.test("readFamilyCpuMs() adds up a process, its children and those that have ended", () => {
  const statOf = (pid: number, parent: number, ticks: readonly number[]) =>
    `${pid} (a (b) c) S ${parent} 0 0 0 0 0 0 0 0 0 ${ticks.join(" ")} 20 0`;
  const text = [statOf(10, 1, [5, 6, 7, 8]), statOf(11, 10, [1, 2, 100, 100]), statOf(12, 1, [50, 50, 0, 0])];
  assertEquals(readFamilyCpuMs(text.join("\n"), 10), (5 + 6 + 7 + 8 + 1 + 2) * 10);
  assertEquals(readFamilyCpuMs(text.join("\n"), 13), null);
});
