import { assert, assertEquals } from "@std/assert";
import { type Log, type LogFields, silentLog } from "../../src/platform/lib/basics/log.ts";
import { changedJobStore } from "../../src/platform/store/changed_store.ts";
import type { StoreEngine } from "../../src/platform/store/engine.ts";
import {
  createJobRunner,
  jobBackoffMs,
  type JobRunner,
  type JobRunnerOptions,
} from "../../src/platform/store/job_runner.ts";
import { openMemoryStore } from "../support/memory_store.ts";
import type { Commit, Job, JobStore } from "../../src/platform/store/store.ts";
import { itemAt } from "../support/items.ts";
import { HOST_CLOCKS, hostClock } from "../support/host_clock.ts";
import { ManualClock, until } from "../support/manual_clock.ts";
import { storeTimeOf } from "../../src/platform/store/store_time.ts";

const LEASE_MS = 30_000;

interface World {
  /** The clock of the store. */
  readonly clock: ManualClock;
  readonly store: StoreEngine;
  /** The logged events with their fields. */
  readonly logged: [event: string, fields: LogFields][];
  readonly run: (options: Pick<JobRunnerOptions, "handlers"> & Partial<JobRunnerOptions>) => JobRunner;
}

/** Registers a test for each clock of the runner's machine. */
function test(promise: string, prove: (world: World) => Promise<void>): void {
  for (const [name, aheadMs] of Object.entries(HOST_CLOCKS)) {
    Deno.test(`createJobRunner(), by ${name}: ${promise}`, () => inWorld(aheadMs, prove));
  }
}

async function inWorld(aheadMs: number, prove: (world: World) => Promise<void>): Promise<void> {
  const clock = new ManualClock();
  const store = await openMemoryStore({ clock });
  const logged: World["logged"] = [];
  const note = (event: string, fields: LogFields = {}) => void logged.push([event, fields]);
  const log: Log = { debug: note, info: note, warn: note, error: note };
  const runners: JobRunner[] = [];
  const run: World["run"] = (options) => {
    const runner = createJobRunner({ store, clock: hostClock(clock, aheadMs), log, leaseMs: LEASE_MS, ...options });
    runners.push(runner);
    return runner;
  };
  try {
    await prove({ clock, store, logged, run });
  } finally {
    for (const runner of runners) await runner.drain(0);
    await store.close();
  }
}

const add = (store: JobStore, ref: string, dueAt: number = store.now()) =>
  store.commit(null, { addJobs: [{ kind: "k", ref, dueAt: storeTimeOf(dueAt) }] });
const settle = (store: JobStore, job: Job) => store.commit(null, { completeJobs: [job] });
/** Lets everything that is ready run. */
const settled = () => new Promise((resolve) => setTimeout(resolve, 2));

test("runs what is due at its start and what falls due later", async ({ store, clock, run }) => {
  const done: string[] = [];
  await add(store, "before");
  await add(store, "later", store.now() + 500);
  run({
    handlers: {
      k: async (job) => {
        await settle(store, job);
        done.push(job.ref);
      },
    },
  });
  await until(() => done.length === 1);
  await add(store, "now");
  await until(() => done.length === 2);
  clock.advance(500);
  await until(() => done.length === 3);
  assertEquals(done, ["before", "now", "later"]);
});

test("leases jobs for as long as the store of several processes says", async ({ store, clock }) => {
  const started = Promise.withResolvers<Job>();
  const shared = changedJobStore(store, { jobLeaseMs: 10_000 });
  await add(store, "t");
  const handlers = { k: (job: Job) => new Promise<void>(() => started.resolve(job)) };
  const runner = createJobRunner({ store: shared, clock, log: silentLog, handlers });
  assertEquals((await started.promise).dueAt, clock.now() + 10_000);
  await runner.drain(0);
});

test("renews a lease of ten seconds within three, and not more often than every two", async ({ store, clock, run }) => {
  const renewedAt: number[] = [];
  const counting = changedJobStore(store, {
    renew: (jobs, leaseMs) => {
      renewedAt.push(clock.now());
      return store.renew(jobs, leaseMs);
    },
  });
  const finish = Promise.withResolvers<void>();
  const runner = run({ store: counting, leaseMs: 10_000, handlers: { k: () => finish.promise } });
  clock.advance(350); // the job begins between two looks
  await add(store, "t");
  await until(() => runner.running === 1);
  const times = [clock.now()];
  for (let passed = 0; passed < 30_000; passed += 50) {
    clock.advance(50);
    if (renewedAt.length < times.length) continue;
    times.push(renewedAt.at(-1)!);
    await settled();
  }
  const gaps = times.slice(1).map((at, index) => at - times[index]!);
  assert(gaps.length >= 10 && gaps.every((gap) => gap >= 2_000 && gap <= 3_000), String(gaps));
  finish.resolve();
});

test("finds due jobs whose wake was lost", async ({ store, clock, run }) => {
  const done: string[] = [];
  const deaf: JobStore = Object.create(store, { onWake: { value: () => () => {} } });
  for (const name of ["claim", "commit", "renew", "now"] as const) {
    Object.defineProperty(deaf, name, { value: store[name].bind(store) });
  }
  run({ store: deaf, handlers: { k: (job) => settle(store, job).then(() => void done.push(job.ref)) }, pollMs: 5_000 });
  await settled();
  await add(store, "t");
  await settled();
  assertEquals(done, []);
  clock.advance(5_000);
  await until(() => done.length === 1);
});

test("runs at most as many jobs of a kind at once as it was told, and all in the end", async ({ store, run }) => {
  let running = 0;
  let most = 0;
  let done = 0;
  for (let n = 0; n < 20; n++) await add(store, `t${n}`);
  run({
    concurrency: { k: 3 },
    handlers: {
      k: async (job) => {
        most = Math.max(most, ++running);
        await settled();
        running--;
        await settle(store, job);
        done++;
      },
    },
  });
  await until(() => done === 20);
  assertEquals(most, 3);
});

test("leaves kinds without a handler alone", async ({ store, run }) => {
  await store.commit(null, { addJobs: [{ kind: "other", ref: "t", dueAt: storeTimeOf(0) }] });
  run({ handlers: { k: () => Promise.resolve() } });
  await settled();
  assertEquals((await store.claim(["other"], 1, 1)).length, 1);
});

test("puts a job off with a growing delay when its handler throws, and logs it", async ({ store, clock, logged, run }) => {
  const attempts: number[] = [];
  await add(store, "t");
  run({
    handlers: {
      k: (job) => {
        attempts.push(job.attempt);
        if (job.attempt === 1) throw new Error("thrown, not rejected");
        return Promise.reject(new TypeError("no"));
      },
    },
  });
  for (const [attempt, delayMs] of [1_000, 2_000, 4_000].entries()) {
    await until(() => attempts.length === attempt + 1);
    await settled();
    clock.advance(delayMs - 1);
    await settled();
    assertEquals(attempts.length, attempt + 1, "not before its time");
    clock.advance(1);
  }
  await until(() => attempts.length === 4);
  assertEquals(attempts, [0, 1, 2, 3]);
  assertEquals(logged[0], ["job_failed", { jobKind: "k", ref: "t", attempt: 0, reason: "TypeError: no" }]);
});

test("renews the lease of long work so that nobody else gets the job", async ({ store, clock, run }) => {
  const finish = Promise.withResolvers<void>();
  let renewals = 0;
  let finished: unknown = null;
  await add(store, "t");
  const runner = run({
    handlers: {
      k: async (job, context) => {
        await finish.promise;
        renewals = context.renewals;
        assert(!context.signal.aborted);
        finished = await settle(store, job);
      },
    },
  });
  await until(() => runner.running === 1);
  for (let passed = 0; passed < 10 * LEASE_MS; passed += 1_000) {
    clock.advance(1_000);
    await Promise.resolve();
    if (passed % 10_000 === 0) {
      await settled();
      assertEquals(await store.claim(["k"], 1, LEASE_MS), []);
    }
  }
  finish.resolve();
  await until(() => finished !== null);
  assertEquals(finished, { ok: true, replayed: false, versions: [] });
  assert(renewals >= 20);
});

test("aborts work whose lease is another's, and writes nothing for it", async ({ store, clock, logged, run }) => {
  let reason: unknown = null;
  await add(store, "t");
  const runner = run({
    handlers: {
      k: (_, { signal }) =>
        new Promise((_, reject) => {
          signal.onabort = () => reject(reason = signal.reason);
        }),
    },
  });
  await until(() => runner.running === 1);
  clock.stall(LEASE_MS); // the process was stopped, and another worker claimed the job meanwhile
  const taken = itemAt(await store.claim(["k"], 1, 10 * LEASE_MS), 0);
  clock.advance(5_000);
  await until(() => reason !== null && runner.running === 0);
  assertEquals(logged.map(([event]) => event), ["job_lease_lost"]);
  assert((await settle(store, taken)).ok);
});

test("aborts work whose job was settled by somebody else", async ({ store, clock, run }) => {
  const taken = Promise.withResolvers<Job>();
  let aborted = false;
  await add(store, "t");
  const runner = run({
    handlers: {
      k: (job, { signal }) => {
        taken.resolve(job);
        return new Promise(() => signal.onabort = () => aborted = true);
      },
    },
  });
  await settle(store, await taken.promise);
  clock.advance(LEASE_MS / 3);
  await until(() => aborted && runner.running === 0);
});

test("looks again when it is woken in the moment after it looked", async ({ store, run }) => {
  for (let turns = 0; turns < 8; turns++) {
    let wake = (_: string) => {};
    let claims = 0;
    const claim = async () => {
      await Promise.resolve();
      if (++claims > 1) return [];
      let late = Promise.resolve();
      for (let turn = 0; turn < turns; turn++) late = late.then(() => {});
      late.then(() => wake("k"));
      return [];
    };
    const onWake = (listener: (kind: string) => void) => {
      wake = listener;
      return () => {};
    };
    run({
      store: changedJobStore(store, { claim, onWake }),
      handlers: { k: () => Promise.resolve() },
    });
    await settled();
    assertEquals(claims, 2, `woken ${turns} turns late`);
  }
});

test("drops work before its lease ends when renewing fails", async ({ store, clock, logged, run }) => {
  const failing: JobStore = Object.create(store);
  for (const name of ["claim", "commit", "onWake", "now"] as const) {
    Object.defineProperty(failing, name, { value: store[name].bind(store) });
  }
  Object.defineProperty(failing, "renew", { value: () => Promise.reject(new Error("disk full")) });
  let aborted = 0;
  await add(store, "t");
  const runner = run({
    store: failing,
    concurrency: { k: 1 },
    handlers: { k: (_, { signal }) => new Promise(() => signal.onabort = () => aborted = clock.now()) },
  });
  await until(() => runner.running === 1);
  const leaseEnd = clock.now() + LEASE_MS;
  for (let i = 0; i < 29; i++) {
    clock.advance(1_000);
    await settled();
  }
  assert(aborted > 0 && aborted < leaseEnd);
  assert(logged.some(([event]) => event === "job_renew_failed"));
});

test("takes a job from a handler that hangs, and gives it another try", async ({ store, clock, logged, run }) => {
  let starts = 0;
  let late: unknown = null;
  const wakeUp = Promise.withResolvers<void>();
  await add(store, "t");
  const runner = run({
    timeoutMs: 60_000,
    concurrency: { k: 1 },
    handlers: {
      k: async (job) => {
        if (++starts === 2) return void await settle(store, job);
        await wakeUp.promise;
        late = await settle(store, job);
      },
    },
  });
  await until(() => runner.running === 1);
  for (let i = 0; i < 70; i++) {
    clock.advance(1_000);
    await settled();
  }
  await until(() => starts === 2 && runner.running === 0);
  wakeUp.resolve();
  await until(() => late !== null);
  assertEquals(late, { ok: false, why: "fenced", at: 0 });
  assert(logged.some(([event]) => event === "job_hung"));
});

test("puts off a job that its handler left open, and says so", async ({ store, clock, logged, run }) => {
  let starts = 0;
  await add(store, "t");
  const runner = run({ handlers: { k: async (job) => void (++starts === 2 && await settle(store, job)) } });
  await until(() => starts === 1 && runner.running === 0);
  assertEquals(logged.map(([event]) => event), ["job_left_open"]);
  clock.advance(1_000);
  await until(() => starts === 2 && runner.running === 0);
  assertEquals(logged.length, 1);
});

test("commits nothing itself for a job whose handler returns the commit that ended it", async ({ store, run, logged }) => {
  const { counted, commits } = counting(store);
  const runner = run({ store: counted, handlers: { k: (job) => settle(counted, job) } });
  await add(store, "t");
  await until(() => commits.length > 0 && runner.running === 0);
  await settled();
  assertEquals([commits.length, logged], [1, []]);
});

test("puts off a job whose own commit was refused for another reason than its lease", async ({ store, clock, run }) => {
  const { counted, commits } = counting(store);
  const refused = { check: [{ key: ["none"], version: "1" }] };
  let starts = 0;
  const handler = (job: Job) => counted.commit(null, { ...starts++ === 0 ? refused : {}, completeJobs: [job] });
  const runner = run({ store: counted, handlers: { k: handler } });
  await add(store, "t");
  await until(() => commits.length === 2 && runner.running === 0);
  clock.advance(1_000);
  await until(() => commits.length === 3 && runner.running === 0);
  assertEquals((await store.claim(["k"], 1, 1)).length, 0);
});

/** A store that records its commits. */
function counting(store: JobStore): { readonly counted: JobStore; readonly commits: Commit[] } {
  const commits: Commit[] = [];
  const counted: JobStore = Object.create(store);
  for (const name of ["claim", "renew", "onWake", "now"] as const) {
    Object.defineProperty(counted, name, { value: store[name].bind(store) });
  }
  const commit: JobStore["commit"] = (operation, wanted) => {
    commits.push(wanted);
    return store.commit(operation, wanted);
  };
  Object.defineProperty(counted, "commit", { value: commit });
  return { counted, commits };
}

test("goes on after the store failed to claim", async ({ store, clock, logged, run }) => {
  let failures = 1;
  const flaky: JobStore = Object.create(store);
  for (const name of ["commit", "renew", "onWake", "now"] as const) {
    Object.defineProperty(flaky, name, { value: store[name].bind(store) });
  }
  const claim: JobStore["claim"] = (...args) =>
    failures-- > 0 ? Promise.reject(new Error("disk full")) : store.claim(...args);
  Object.defineProperty(flaky, "claim", { value: claim });
  const done: string[] = [];
  await add(store, "t");
  run({ store: flaky, handlers: { k: (job) => settle(store, job).then(() => void done.push(job.ref)) } });
  await settled();
  assertEquals(logged.map(([event]) => event), ["job_claim_failed"]);
  clock.advance(5_000);
  await until(() => done.length === 1);
});

test("waits for running work when drained, and claims no more", async ({ store, run }) => {
  const finish = Promise.withResolvers<void>();
  await add(store, "t");
  const runner = run({ handlers: { k: (job) => finish.promise.then(() => void settle(store, job)) } });
  await until(() => runner.running === 1);
  const drained = runner.drain(10_000);
  await add(store, "u");
  finish.resolve();
  await drained;
  assertEquals(runner.running, 0);
  assertEquals((await store.claim(["k"], 9, 1)).map(({ ref }) => ref), ["u"]);
});

test("gives back what is still running when the grace is over, due at once, no attempt later", async ({ store, clock, run }) => {
  let signal: AbortSignal | null = null;
  await add(store, "t");
  const runner = run({
    handlers: {
      k: (_, context) => {
        signal = context.signal;
        return new Promise(() => {});
      },
    },
  });
  await until(() => runner.running === 1);
  const drained = runner.drain(1_000);
  await settled();
  clock.advance(1_000);
  await drained;
  assert(signal!.aborted);
  const job = itemAt(await store.claim(["k"], 9, 1), 0);
  assertEquals([job.ref, job.epoch, job.attempt], ["t", 2, 0]);
});

test("does every job exactly once while handlers throw, leases lapse and runners come and go", async ({ store, clock, run }) => {
  const done = new Map<string, number>();
  const refs = Array.from({ length: 60 }, (_, n) => `t${n}`);
  for (const ref of refs) await add(store, ref);
  const handlers: JobRunnerOptions["handlers"] = {
    k: async (job, { signal }) => {
      await settled();
      const chance = (Number(job.ref.slice(1)) * 7 + job.epoch * 3) % 5;
      if (chance === 0) throw new Error("no");
      if (chance === 1) await new Promise((resolve) => signal.onabort = resolve);
      const { ok } = await settle(store, job);
      if (ok) done.set(job.ref, (done.get(job.ref) ?? 0) + 1);
    },
  };
  let runner = run({ handlers, timeoutMs: 20_000, concurrency: { k: 7 } });
  for (let i = 0; done.size < refs.length; i++) {
    if (i % 40 === 39) {
      await runner.drain(0);
      runner = run({ handlers, timeoutMs: 20_000, concurrency: { k: 7 } });
    }
    await settled();
    clock.advance(1_000);
  }
  assertEquals([...done.values()].filter((times) => times !== 1), []);
});

Deno.test("jobBackoffMs() doubles from one second and stays at a minute", () => {
  assertEquals([0, 1, 2, 3, 5, 6, 60].map(jobBackoffMs), [1, 2, 4, 8, 32, 60, 60].map((seconds) => seconds * 1_000));
});
