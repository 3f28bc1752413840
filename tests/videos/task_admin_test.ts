import { assert, assertEquals, assertRejects } from "@std/assert";
import fc from "fast-check";
import { mergeCommits } from "../../src/money/billing/accounts/records.ts";
import { openMemoryStore } from "../support/memory_store.ts";
import type { Commit, Store } from "../../src/platform/store/store.ts";
import { UpstreamFailure } from "../../src/vendors/upstreams/call/failure.ts";
import { addTask, changeTask, indexOldTasks, readTask } from "../../src/services/videos/tasks/records.ts";
import { VIDEO_STATUSES, type VideoStatus, type VideoTask } from "../../src/services/videos/tasks/task.ts";
import { MAX_TASKS_SCANNED, openTaskAdmin, type TaskFilter } from "../../src/services/videos/upkeep/task_admin.ts";
import { itemAt } from "../support/items.ts";
import { ManualClock } from "../support/manual_clock.ts";
import { openStage } from "./stage.ts";
import { MODELS, taskOf } from "./tasks.ts";
import { storeMember } from "../support/store_member.ts";

const ALL: TaskFilter = { account: null, status: null, model: null, from: 0, to: Number.MAX_SAFE_INTEGER };
const ACCOUNTS = ["acme", "acme-two", "b"];

/** A store with these tasks: created pending, then ended. */
async function storeWith(tasks: readonly VideoTask[]): Promise<Store> {
  const store = await openMemoryStore({ clock: new ManualClock() });
  for (const task of tasks) {
    await store.commit(null, { ...addTask({}, { ...task, status: "pending" }, store.now()), addJobs: [] });
    if (task.status === "pending") continue;
    const entry = await readTask(store, task.id);
    assert((await store.commit(null, changeTask({}, entry!, { status: task.status }))).ok);
  }
  return store;
}

/** Returns the expected result of a filter by a full scan. */
function expectedIds(tasks: readonly VideoTask[], { account, status, model, from, to }: TaskFilter, reverse: boolean) {
  const ordered = tasks
    .filter((task) => account === null || task.account === account)
    .filter((task) => status === null || task.status === status)
    .filter((task) => model === null || task.model === model)
    .filter(({ createdAt }) => createdAt >= from && createdAt < to)
    .toSorted((a, b) => a.createdAt - b.createdAt || (a.id < b.id ? -1 : 1))
    .map(({ id }) => id);
  return reverse ? ordered.reverse() : ordered;
}

const taskArbitrary = fc.record({
  account: fc.constantFrom(...ACCOUNTS),
  model: fc.constantFrom(...MODELS),
  status: fc.constantFrom<VideoStatus>(...VIDEO_STATUSES),
  createdAt: fc.integer({ min: 0, max: 6 }),
});

const filterArbitrary: fc.Arbitrary<TaskFilter> = fc.record({
  account: fc.constantFrom(null, ...ACCOUNTS),
  status: fc.constantFrom<VideoStatus | null>(null, ...VIDEO_STATUSES),
  model: fc.constantFrom(null, ...MODELS),
  from: fc.integer({ min: 0, max: 4 }),
  to: fc.integer({ min: 2, max: 8 }),
});

Deno.test("task admin: the pages of any filter in both orders contain each matching task once", async () => {
  const tasksArbitrary = fc.array(taskArbitrary, { maxLength: 25 });
  const law = fc.asyncProperty(
    tasksArbitrary,
    filterArbitrary,
    fc.integer({ min: 1, max: 7 }),
    fc.boolean(),
    async (facts, filter, limit, reverse) => {
      const tasks = facts.map((fact, n) => taskOf(n, fact));
      const admin = openTaskAdmin(await storeWith(tasks));
      const seen: string[] = [];
      let after = null;
      do {
        const { tasks: stories, next } = await admin.list(filter, { after, limit, reverse });
        assert(stories.length <= limit && (next === null || stories.length === limit));
        seen.push(...stories.map(({ task }) => task.id));
        after = next;
      } while (after !== null);
      assertEquals(seen, expectedIds(tasks, filter, reverse));
    },
  );
  await fc.assert(law, { numRuns: 150 });
});

Deno.test("task admin: a task that ends between two reads of its indexes is listed once and never missed", async () => {
  const tasks = [taskOf(1), taskOf(2, { status: "completed" }), taskOf(3)];
  const store = await storeWith(tasks);
  let scans = 0;
  const moving = overlaid(store, {
    async scan<T>(...given: Parameters<Store["scan"]>) {
      const found = await store.scan<T>(...given);
      if (scans++ === 0) {
        const entry = await readTask(store, itemAt(tasks, 2).id);
        await store.commit(null, changeTask({}, entry!, { status: "failed" }));
      }
      return found;
    },
  });
  const { tasks: stories } = await openTaskAdmin(moving).list(ALL, { after: null, limit: 10, reverse: true });
  assertEquals(stories.map(({ task }) => [task.id, task.status]), [
    [itemAt(tasks, 2).id, "failed"],
    [itemAt(tasks, 1).id, "completed"],
    [itemAt(tasks, 0).id, "pending"],
  ]);
});

Deno.test("task admin: tasks without index entries are indexed once, by their current state", async () => {
  const tasks = Array.from({ length: 205 }, (_, n) => {
    return taskOf(n, { status: itemAt(VIDEO_STATUSES, n % 5), account: itemAt(ACCOUNTS, n % 3), createdAt: 1_000 - n });
  });
  const store = await openMemoryStore({ clock: new ManualClock() });
  for (const task of tasks) await store.commit(null, withoutLines(addTask({}, task, store.now())));
  const admin = openTaskAdmin(store);
  const list = async (filter: TaskFilter) => {
    const { tasks: stories } = await admin.list(filter, { after: null, limit: 300, reverse: true });
    return stories.map(({ task }) => task.id);
  };
  assertEquals(await list(ALL), []);
  await indexOldTasks(store);
  for (const filter of [ALL, { ...ALL, account: "acme" }, { ...ALL, status: "failed" } as const]) {
    assertEquals(await list(filter), expectedIds(tasks, filter, true));
  }
  const commits: Commit[] = [];
  const watched = overlaid(store, {
    commit(_, commit) {
      commits.push(commit);
      return Promise.resolve({ ok: true, replayed: false, versions: [] });
    },
  });
  await indexOldTasks(watched);
  assertEquals(commits, [], "a second start enters nothing");
});

Deno.test("task admin: indexing old tasks continues after an interruption", async () => {
  const tasks = Array.from({ length: 205 }, (_, n) => taskOf(n, { createdAt: 1_000 - n }));
  const store = await openMemoryStore({ clock: new ManualClock() });
  for (const task of tasks) await store.commit(null, withoutLines(addTask({}, task, store.now())));
  let commits = 0;
  const breaking = overlaid(store, {
    commit(operation, commit) {
      if (++commits === 3) throw new Error("killed");
      return store.commit(operation, commit);
    },
  });
  await assertRejects(() => indexOldTasks(breaking), Error, "killed");
  let entered = 0;
  const counting = overlaid(store, {
    commit(operation, commit) {
      entered += commit.set?.filter(({ key }) => key[1] === "time").length ?? 0;
      return store.commit(operation, commit);
    },
  });
  await indexOldTasks(counting);
  assertEquals(entered, 205 - 2 * 40);
  const { tasks: stories } = await openTaskAdmin(store).list(ALL, { after: null, limit: 300, reverse: true });
  assertEquals(stories.map(({ task }) => task.id), expectedIds(tasks, ALL, true));
});

/** A store with some operations replaced. */
function overlaid(store: Store, over: Partial<Store>): Store {
  return new Proxy(store, {
    get: (target, name: keyof Store) => over[name] ?? storeMember(target, name),
  });
}

function withoutLines(commit: Commit): Commit {
  return { ...commit, addJobs: [], set: (commit.set ?? []).filter(({ key }) => !String(key[1]).endsWith("time")) };
}

Deno.test("task admin: a page without a task of its model ends after the maximum number of entries, and the next continues", async () => {
  const store = await openMemoryStore({ clock: new ManualClock() });
  const count = MAX_TASKS_SCANNED + 600;
  let commit: Commit = {};
  for (let n = 0; n < count; n++) {
    const { set = [] } = addTask({}, taskOf(n, { model: itemAt(MODELS, n === 0 ? 1 : 0) }), store.now());
    commit = mergeCommits(commit, { set });
    if ((n + 1) % 100 > 0) continue;
    await store.commit(null, commit);
    commit = {};
  }
  const admin = openTaskAdmin(store);
  const filter = { ...ALL, status: "pending", model: itemAt(MODELS, 1) } as const;
  const first = await admin.list(filter, { after: null, limit: 20, reverse: true });
  assertEquals([first.tasks, first.next?.id], [[], taskOf(count - MAX_TASKS_SCANNED).id]);
  const second = await admin.list(filter, { after: first.next, limit: 20, reverse: true });
  assertEquals([second.tasks.map(({ task }) => task.id), second.next], [[taskOf(0).id], null]);
});

Deno.test("task admin: a task is read by its id with its hold; an invalid id returns null", async () => {
  const stage = await openStage();
  const id = await stage.create();
  await stage.runDue();
  const admin = openTaskAdmin(stage.store);
  const found = await admin.read(id);
  assertEquals([found?.task.offers, found?.task.stage.step], [1, "submitted"]);
  assertEquals([found?.hold?.state, found?.hold?.amount], ["open", found?.task.price.estimate]);
  assertEquals([await admin.read("lost"), await admin.read(taskOf(9).id)], [null, null]);
});

Deno.test("task admin: each create call of a task is counted", async () => {
  const stage = await openStage();
  const refusing = () => {
    throw new UpstreamFailure("vendor", "unavailable", "it is down", { status: 503, accepted: "no" });
  };
  stage.vendor.before = refusing;
  stage.second.before = refusing;
  const id = await stage.create();
  await stage.runDue();
  assertEquals((await openTaskAdmin(stage.store).read(id))?.task.offers, 2);
});
