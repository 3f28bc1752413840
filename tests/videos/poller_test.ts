import { assert, assertEquals } from "@std/assert";
import type { Commit } from "../../src/platform/store/store.ts";
import { UpstreamFailure } from "../../src/vendors/upstreams/call/failure.ts";
import type { VideoJobHandle, VideoProgress } from "../../src/vendors/upstreams/contract/video_upstream.ts";
import type { VideoTask } from "../../src/services/videos/tasks/task.ts";
import { itemAt } from "../support/items.ts";
import { until } from "../support/manual_clock.ts";
import { DONE, openStage, type Stage } from "./stage.ts";

const PENDING: VideoProgress = { status: "pending", isRunning: true };
const HOUR_MS = 3_600_000;

/** Creates submitted tasks that were not polled yet. */
async function submitted(stage: Stage, count: number): Promise<string[]> {
  const ids: string[] = [];
  for (let n = 0; n < count; n++) {
    ids.push(await stage.create());
    await stage.runDue(["video_submit"]);
  }
  return ids;
}

/** Polls due tasks, second by second. */
async function pass(stage: Stage, seconds: number): Promise<void> {
  for (let second = 0; second < seconds; second++) {
    stage.clock.advance(1_000);
    await stage.runDue(["video_poll"]);
  }
}

/** Records the polled jobs in order. */
function countPolls(stage: Stage, answer: (id: string) => VideoProgress | UpstreamFailure = () => PENDING): string[] {
  const polls: string[] = [];
  stage.vendor.progress = (id) => {
    polls.push(id);
    const progress = answer(id);
    if (progress instanceof UpstreamFailure) throw progress;
    return progress;
  };
  return polls;
}

const refusal = (retryAfterSeconds: number | undefined, status = 429) =>
  new UpstreamFailure("vendor", status === 429 ? "rate_limited" : "unavailable", "slow down", {
    status,
    accepted: "no",
    ...(retryAfterSeconds === undefined ? {} : { retryAfterSeconds }),
  });

for (const status of [429, 503]) {
  Deno.test(`a ${status} with Retry-After pauses polling of all tasks of its provider`, async () => {
    const stage = await openStage();
    await submitted(stage, 98);
    const polls = countPolls(stage, () => refusal(120, status));
    stage.clock.advance(9_000);
    await pass(stage, 2);
    const refused = polls.length;
    assert(refused >= 1 && refused <= 98, `${refused} polls were under way when the vendor refused`);
    await pass(stage, 118);
    assertEquals(polls.length, refused, "nobody polls until then");
    countPolls(stage, () => DONE);
    await pass(stage, 3);
    assertEquals((await stage.store.scan(["event"], { limit: 200 })).length, 98);
  });
}

Deno.test("a poll without news writes nothing and reads nothing", async () => {
  const stage = await openStage();
  await submitted(stage, 20);
  const polls = countPolls(stage);
  await pass(stage, 12); // watched, and polled once
  const calls: string[] = [];
  for (const name of ["commit", "get", "scan", "renew"] as const) {
    const real = stage.store[name].bind(stage.store) as (...args: unknown[]) => Promise<never>;
    stage.store[name] = ((...args: unknown[]) => {
      calls.push(name);
      return real(...args);
    }) as never;
  }
  const before = polls.length;
  await pass(stage, 30);
  assert(polls.length - before > 80, `${polls.length - before} polls`);
  assertEquals(calls, []);
});

Deno.test("tasks that one process watched are polled by the next, and end once", async () => {
  const stage = await openStage();
  const ids = await submitted(stage, 5);
  await pass(stage, 12);
  const next = stage.reopen(stage.store);
  stage.clock.advance(600_000); // the leases of a process that has exited
  countPolls(stage, () => DONE);
  assertEquals(await next.poller.pollDue(), 5);
  for (const id of ids) assertEquals((await stage.read(id)).status, "completed");
  await stage.runDue();
  assertEquals(stage.events.length, 5);
});

Deno.test("a drained poller returns its jobs, so that the next one continues immediately", async () => {
  const stage = await openStage();
  await submitted(stage, 70);
  const polls = countPolls(stage);
  const runner = stage.videos.poller.start();
  stage.clock.advance(12_000);
  await until(() => polls.length >= 70);
  await until(() => runner.running === 0);
  await runner.drain(0);
  assertEquals((await stage.store.claim(["video_poll"], 100, 1)).length, 70);
});

Deno.test("a started poller polls when tasks are due", async () => {
  const stage = await openStage();
  const runner = stage.videos.poller.start();
  const id = itemAt(await submitted(stage, 1), 0);
  let isDone = false;
  const polls = countPolls(stage, () => isDone ? DONE : PENDING);
  for (let n = 1; n <= 3; n++) {
    stage.clock.advance(10_000);
    await until(() => polls.length >= n && runner.running === 0);
  }
  isDone = true;
  const before = polls.length;
  stage.clock.advance(10_000);
  await until(() => polls.length > before);
  await until(() => stage.events.length === 1);
  assertEquals((await stage.read(id)).status, "completed");
  await runner.drain(0);
  assertEquals(await stage.store.claim(["video_poll"], 9, 1), [], "the terminal commit settled the job");
});

Deno.test("a task cancelled by its caller is no longer polled and has no open job", async () => {
  const stage = await openStage();
  const id = itemAt(await submitted(stage, 1), 0);
  const polls = countPolls(stage);
  await pass(stage, 12);
  await stage.videos.cancel("key-1", id);
  const before = polls.length;
  await pass(stage, 60);
  assertEquals(polls.length, before);
  stage.clock.advance(HOUR_MS);
  assertEquals(await stage.store.claim(["video_poll"], 9, 1), []);
});

Deno.test("a task expires at its deadline during a polling pause of its provider", async () => {
  const stage = await openStage();
  const id = itemAt(await submitted(stage, 1), 0);
  stage.clock.advance(HOUR_MS - 600_000);
  countPolls(stage, () => refusal(3_600));
  await stage.runDue(["video_poll"]);
  stage.clock.advance(611_000);
  await stage.runDue(["video_poll"]);
  assertEquals((await stage.read(id)).status, "expired");
});

Deno.test("after the clock moves back by an hour a task is submitted and polled without delay", async () => {
  const stage = await openStage();
  const watched = itemAt(await submitted(stage, 1), 0);
  countPolls(stage);
  await pass(stage, 12);
  stage.clock.set(stage.clock.now() - HOUR_MS);
  const waiting = await stage.create();
  await stage.runDue(["video_submit"]);
  const polls = countPolls(stage);
  await pass(stage, 12);
  assertEquals(new Set(polls), new Set([`job-${watched}-0`, `job-${waiting}-0`]));
  stage.clock.advance(HOUR_MS);
  await stage.runDue(["video_poll"]);
  assertEquals((await stage.read(watched)).status, "expired", "deadlines are as far away as they were");
});

Deno.test("a vendor with job lists is polled once for all tasks that are due or soon will be", async () => {
  const stage = await openStage();
  const ids = await submitted(stage, 90);
  const listSizes: number[] = [];
  const singles = countPolls(stage);
  const done = new Set<string>();
  Object.assign(stage.vendor, {
    pollMany: {
      limit: 40,
      poll(jobs: readonly VideoJobHandle[]) {
        listSizes.push(jobs.length);
        return Promise.resolve(new Map(jobs.map(({ id }) => [id, done.has(id) ? DONE : PENDING])));
      },
    },
  });
  stage.clock.advance(10_000);
  await stage.runDue(["video_poll"]);
  assertEquals(listSizes, [40, 40, 10]);
  assertEquals(singles, []);
  done.add(`job-${ids[7]}-0`);
  await pass(stage, 7);
  assertEquals((await stage.read(itemAt(ids, 7))).status, "completed");
  assertEquals((await stage.read(itemAt(ids, 8))).status, "pending");
});

Deno.test("a job missing from the vendor's list is polled individually from then on", async () => {
  const stage = await openStage();
  const ids = await submitted(stage, 3);
  const lists: number[] = [];
  const singles = countPolls(stage, () => DONE);
  Object.assign(stage.vendor, {
    pollMany: {
      limit: 100,
      poll(jobs: readonly VideoJobHandle[]) {
        lists.push(jobs.length);
        return Promise.resolve(new Map(jobs.slice(1).map(({ id }) => [id, PENDING])));
      },
    },
  });
  stage.clock.advance(10_000);
  await stage.runDue(["video_poll"]);
  assertEquals([lists, singles], [[3], [`job-${ids[0]}-0`]]);
  assertEquals((await stage.read(itemAt(ids, 0))).status, "completed");
});

for (const count of [1, 3]) {
  Deno.test(`jobs of a vendor that rejects a list of ${count} are polled individually`, async () => {
    const stage = await openStage();
    await submitted(stage, count);
    const singles = countPolls(stage, () => DONE);
    const ask = () => Promise.reject(new UpstreamFailure("vendor", "invalid", "no", { status: 400, accepted: "no" }));
    Object.assign(stage.vendor, { pollMany: { limit: 100, poll: ask } });
    stage.clock.advance(10_000);
    await stage.runDue(["video_poll"]);
    assertEquals(singles.length, count);
  });
}

Deno.test("jobs of a vendor whose list fails repeatedly are polled individually", async () => {
  const stage = await openStage();
  await submitted(stage, 3);
  const singles = countPolls(stage, () => DONE);
  let lists = 0;
  const ask = () => {
    lists++;
    return Promise.reject(new UpstreamFailure("vendor", "unavailable", "no", { status: 501, accepted: "no" }));
  };
  Object.assign(stage.vendor, { pollMany: { limit: 100, poll: ask } });
  await pass(stage, 30);
  assertEquals([lists, singles.length], [3, 3]);
});

Deno.test("progress is recorded when it changes, not with every poll", async () => {
  const stage = await openStage();
  const id = itemAt(await submitted(stage, 1), 0);
  let progress: VideoProgress = { status: "pending", isRunning: false, queuePosition: 7 };
  countPolls(stage, () => progress);
  let writes = 0;
  const real = stage.store.commit.bind(stage.store);
  stage.store.commit = (operation: string | null, commit: Commit) => {
    if (commit.set?.length) writes++;
    return real(operation, commit);
  };
  const record = async () => (await stage.store.get<VideoTask>([["video", "task", id]]))[0]!.value.progress;
  await pass(stage, 12);
  assertEquals([await record(), writes], [{ queuePosition: 7 }, 1]);
  await pass(stage, 30);
  assertEquals(writes, 1);
  const startedAt = stage.clock.now();
  progress = { status: "pending", isRunning: true, queuePosition: null, startedAt, progressPercent: 3.7 };
  await pass(stage, 6);
  assertEquals([await record(), writes], [{ startedAt, progressPercent: 3 }, 2]);
  for (let second = 0, percent = 4; second < 60; second++, percent++) {
    progress = { status: "pending", isRunning: true, startedAt, progressPercent: percent };
    await pass(stage, 1);
  }
  assert(writes > 4 && writes <= 2 + 7, `${writes} writes in a minute`);
  progress = { status: "pending", isRunning: true, progressPercent: 1e9 };
  await pass(stage, 20);
  assertEquals((await record())?.progressPercent, 100);
});
