import { assertEquals, assertRejects } from "@std/assert";
import { silentLog } from "../../src/platform/lib/basics/log.ts";
import {
  type JobMessage,
  WorkerFailure,
  WorkerPool,
  type WorkerPoolOptions,
} from "../../src/platform/workers/worker_pool.ts";
import {
  type StartThread,
  ThreadUnavailable,
  type WorkerThreadEvents,
} from "../../src/platform/workers/worker_thread.ts";
import { itemAt } from "../support/items.ts";
import { ManualClock } from "../support/manual_clock.ts";

/** Simulated threads whose results the test provides. */
class FakeThreads {
  /** Which jobs cannot be sent, such as those with a buffer that has moved. */
  refuses: (job: unknown) => boolean = () => false;
  readonly started: { events: WorkerThreadEvents; posted: JobMessage[]; terminated: boolean }[] = [];

  readonly start: StartThread = (events) => {
    const thread = { events, posted: [] as JobMessage[], terminated: false };
    this.started.push(thread);
    return {
      post: (message) => {
        if (this.refuses((message as JobMessage).job)) throw new DOMException("", "DataCloneError");
        thread.posted.push(message as JobMessage);
      },
      terminate: () => void (thread.terminated = true),
      setReferenced() {},
    };
  };

  /** The jobs that a thread has received, in order. */
  jobsOf(nth: number): unknown[] {
    return itemAt(this.started, nth).posted.map(({ job }) => job);
  }

  /** Completes the last job of a thread. */
  answer(nth: number, value: unknown): void {
    const { posted, events } = itemAt(this.started, nth);
    events.onMessage({ id: posted.at(-1)!.id, value });
  }
}

function stage(options: Partial<WorkerPoolOptions> = {}) {
  const threads = new FakeThreads();
  const clock = new ManualClock();
  const pool = new WorkerPool({
    name: "test",
    start: threads.start,
    maxThreads: 1,
    maxQueued: 10,
    maxQueuedPerAccount: 4,
    jobMs: 1_000,
    idleMs: 60_000,
    clock,
    log: silentLog,
    ...options,
  });
  return { threads, clock, pool };
}

const settled = () => new Promise((resolve) => setTimeout(resolve, 0));
const kindOf = async (promise: Promise<unknown>) => (await assertRejects(() => promise, WorkerFailure)).kind;

Deno.test("WorkerPool starts no thread before there is work, and ends it after a long idle time", async () => {
  const { threads, clock, pool } = stage();
  assertEquals(pool.threads, 0);
  const result = pool.run("a", { accountId: "one" });
  assertEquals(threads.jobsOf(0), ["a"]);
  threads.answer(0, "done");
  assertEquals(await result, "done");
  clock.advance(59_999);
  assertEquals([pool.threads, threads.started[0]?.terminated], [1, false]);
  clock.advance(1);
  assertEquals([pool.threads, threads.started[0]?.terminated], [0, true]);
});

Deno.test("WorkerPool serves accounts in turn, so that one with many jobs does not delay another", async () => {
  const { threads, pool } = stage();
  const heavy = ["h1", "h2", "h3", "h4"].map((job) => pool.run(job, { accountId: "heavy" }));
  const light = pool.run("l1", { accountId: "light" });
  const order: unknown[] = [];
  for (let nth = 0; nth < 5; nth++) {
    order.push(threads.jobsOf(0).at(-1));
    threads.answer(0, null);
    await settled();
  }
  assertEquals(order, ["h1", "h2", "l1", "h3", "h4"]);
  await Promise.all([...heavy, light]);
});

Deno.test("WorkerPool rejects a job when its account or all accounts together have too many waiting", async () => {
  const { threads, pool } = stage({ maxQueued: 3, maxQueuedPerAccount: 2 });
  const running = pool.run("r", { accountId: "one" });
  const waiting = [pool.run("1", { accountId: "one" }), pool.run("2", { accountId: "one" })];
  assertEquals(await kindOf(pool.run("3", { accountId: "one" })), "busy");
  waiting.push(pool.run("4", { accountId: "two" }));
  assertEquals(await kindOf(pool.run("5", { accountId: "three" })), "busy");
  waiting.push(pool.run("owed", { accountId: "one", isRequired: true }));
  assertEquals(pool.queued, 4);
  for (let nth = 0; nth < 5; nth++) {
    threads.answer(0, nth);
    await settled();
  }
  await Promise.all([running, ...waiting]);
});

Deno.test("WorkerPool removes a job from the queue when its caller disconnects", async () => {
  const { threads, pool } = stage();
  const running = pool.run("r", { accountId: "one" });
  const caller = new AbortController();
  const left = pool.run("left", { accountId: "one", signal: caller.signal });
  const next = pool.run("next", { accountId: "one" });
  caller.abort();
  assertEquals(await kindOf(left), "cancelled");
  threads.answer(0, null);
  await running;
  assertEquals(threads.jobsOf(0), ["r", "next"]);
  threads.answer(0, null);
  await next;
});

Deno.test("WorkerPool replaces the thread of a job that exceeds its time, and starts none after many such jobs", async () => {
  const { threads, clock, pool } = stage();
  for (let nth = 0; nth < 4; nth++) {
    const stuck = pool.run("stuck", { accountId: "one" });
    clock.advance(1_000);
    assertEquals(await kindOf(stuck), "overran");
    assertEquals(threads.started[nth]?.terminated, true);
  }
  assertEquals(await kindOf(pool.run("fifth", { accountId: "one" })), "busy");
  clock.set(clock.now() - 86_400_000); // the machine's clock is set back, and the pause stays as long as it is
  clock.advance(300_000);
  const later = pool.run("later", { accountId: "one" });
  threads.answer(4, "done");
  assertEquals(await later, "done");
});

Deno.test("WorkerPool fails the job of a thread that crashes and continues with another thread", async () => {
  const { threads, pool } = stage();
  const crashed = pool.run("a", { accountId: "one" });
  const next = pool.run("b", { accountId: "two" });
  itemAt(threads.started, 0).events.onCrash("ERR_WORKER_OUT_OF_MEMORY");
  assertEquals(await kindOf(crashed), "crashed");
  assertEquals(threads.jobsOf(1), ["b"]);
  threads.answer(1, "done");
  assertEquals(await next, "done");
});

Deno.test("WorkerPool cancels running and waiting jobs on close()", async () => {
  const { threads, pool } = stage();
  const all = ["a", "b"].map((job) => kindOf(pool.run(job, { accountId: "one" })));
  pool.close();
  assertEquals(await Promise.all(all), ["cancelled", "cancelled"]);
  assertEquals(threads.started[0]?.terminated, true);
  assertEquals(await kindOf(pool.run("late", { accountId: "one" })), "cancelled");
});

Deno.test("WorkerPool refuses jobs while no thread can start, and lets them wait for one that there is", async () => {
  const threads = new FakeThreads();
  let canStart = false;
  const { pool } = stage({
    maxThreads: 2,
    start: (events) => {
      if (!canStart) throw new ThreadUnavailable();
      return threads.start(events);
    },
  });
  assertEquals(await kindOf(pool.run("a", { accountId: "one" })), "busy");
  canStart = true;
  const first = pool.run("b", { accountId: "one" });
  canStart = false;
  const second = pool.run("c", { accountId: "one" });
  assertEquals(pool.queued, 1);
  threads.answer(0, "done");
  assertEquals(await first, "done");
  threads.answer(0, "done too");
  assertEquals(await second, "done too");
});

Deno.test("WorkerPool fails a job that cannot be sent, and its thread runs the next one", async () => {
  const { threads, pool } = stage();
  const running = pool.run("first", { accountId: "a" });
  const unsendable = pool.run("moved", { accountId: "a" });
  const next = pool.run("next", { accountId: "a" });
  threads.refuses = (job) => job === "moved";
  threads.answer(0, "done");
  assertEquals(await running, "done");
  await assertRejects(() => unsendable, WorkerFailure, "cannot be sent");
  threads.answer(0, "done too");
  assertEquals(await next, "done too");
});
