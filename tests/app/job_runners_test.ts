import { assertEquals } from "@std/assert";
import { startedRunner } from "../../src/entry/app/jobs/job_runners.ts";
import { jsonLog, silentLog } from "../../src/platform/lib/basics/log.ts";
import { ManualClock, until } from "../support/manual_clock.ts";

/** Code that cannot be loaded so many times. */
function lateJobs(failures: number) {
  const seen = { loads: 0, starts: 0, drained: [] as number[] };
  return {
    seen,
    jobs: {
      name: "copies",
      load: () => ++seen.loads > failures ? Promise.resolve("code") : Promise.reject(new TypeError("no descriptors")),
      start: (_code: string) => {
        seen.starts++;
        return { running: 3, drain: (graceMs: number) => Promise.resolve(void seen.drained.push(graceMs)) };
      },
    },
  };
}

Deno.test("jobs whose code cannot be loaded just after the start begin once it can", async () => {
  const clock = new ManualClock();
  const lines: string[] = [];
  const { seen, jobs } = lateJobs(2);
  const runner = startedRunner(jobs, { clock, log: jsonLog("info", (line) => lines.push(line)) });
  await until(() => lines.length === 1);
  assertEquals([seen.starts, runner.running], [0, 0]);
  const { event, jobKind, reason } = JSON.parse(lines[0] ?? "");
  assertEquals([event, jobKind, reason], ["jobs_not_started", "copies", "TypeError"]);
  clock.advance(5_000);
  await until(() => lines.length === 2);
  clock.advance(5_000);
  await until(() => seen.starts === 1);
  assertEquals([seen.loads, runner.running], [3, 3]);
  await runner.drain(70);
  assertEquals(seen.drained, [70]);
});

Deno.test("jobs that are drained before their code was loaded do not begin", async () => {
  const clock = new ManualClock();
  const { seen, jobs } = lateJobs(Infinity);
  const runner = startedRunner(jobs, { clock, log: silentLog });
  await until(() => seen.loads === 1);
  await runner.drain(70);
  assertEquals([seen.starts, seen.drained], [0, []]);
});
