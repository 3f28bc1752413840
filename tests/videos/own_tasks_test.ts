import { assert, assertEquals } from "@std/assert";
import fc from "fast-check";
import { mergeCommits } from "../../src/money/billing/accounts/records.ts";
import { openMemoryStore } from "../support/memory_store.ts";
import type { Commit, Store } from "../../src/platform/store/store.ts";
import { listOwnTasks, MAX_PAGE_SCANS, type OwnTaskFilter } from "../../src/services/videos/tasks/own_tasks.ts";
import { addTask, changeTask, indexOldTasks, readTask, removeTask } from "../../src/services/videos/tasks/records.ts";
import { VIDEO_STATUSES, type VideoStatus, type VideoTask } from "../../src/services/videos/tasks/task.ts";
import { itemAt } from "../support/items.ts";
import { ManualClock } from "../support/manual_clock.ts";
import { MODELS, taskOf } from "./tasks.ts";
import { storeMember } from "../support/store_member.ts";

const ALL: OwnTaskFilter = { status: null, model: null, metadata: [] };
const KEYS = ["key", "key-two"];
const VALUES = ["a", "b"];

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
function expectedIds(tasks: readonly VideoTask[], keyId: string, filter: OwnTaskFilter, reverse: boolean): string[] {
  const ids = tasks
    .filter((task) => task.keyId === keyId)
    .filter(({ status }) => filter.status === null || status === filter.status)
    .filter(({ model }) => filter.model === null || model === filter.model)
    .filter(({ metadata }) => filter.metadata.every(([key, value]) => metadata?.[key] === value))
    .map(({ id }) => id).toSorted();
  return reverse ? ids.reverse() : ids;
}

async function pagedIds(store: Store, keyId: string, filter: OwnTaskFilter, limit: number, reverse: boolean) {
  const ids: string[] = [];
  for (let after: string | null = null;;) {
    const { tasks, next } = await listOwnTasks(store, keyId, filter, { after, limit, reverse });
    assert(tasks.length <= limit);
    ids.push(...tasks.map(({ id }) => id));
    if (next === null) return ids;
    after = next;
  }
}

const taskArbitrary = fc.record({
  keyId: fc.constantFrom(...KEYS),
  model: fc.constantFrom(...MODELS),
  status: fc.constantFrom<VideoStatus>(...VIDEO_STATUSES),
  metadata: fc.constantFrom<Record<string, string> | undefined>(undefined, { env: "a" }, { env: "b" }, {
    env: "a",
    "team.x": "b",
  }),
});

const filterArbitrary: fc.Arbitrary<OwnTaskFilter> = fc.record({
  status: fc.constantFrom<VideoStatus | null>(null, ...VIDEO_STATUSES),
  model: fc.constantFrom(null, ...MODELS),
  metadata: fc.uniqueArray(fc.tuple(fc.constantFrom("env", "team.x"), fc.constantFrom(...VALUES)), {
    maxLength: 2,
    selector: ([key]) => key,
  }),
});

Deno.test("listOwnTasks() returns the tasks that match a filter, page by page, in both orders", async () => {
  const property = fc.asyncProperty(
    fc.array(taskArbitrary, { maxLength: 20 }),
    filterArbitrary,
    fc.integer({ min: 1, max: 4 }),
    fc.boolean(),
    async (overs, filter, limit, reverse) => {
      const tasks = overs.map(({ metadata, ...over }, n) => taskOf(n, { ...over, ...(metadata && { metadata }) }));
      const store = await storeWith(tasks);
      for (const keyId of KEYS) {
        assertEquals(await pagedIds(store, keyId, filter, limit, reverse), expectedIds(tasks, keyId, filter, reverse));
      }
    },
  );
  await fc.assert(property, { numRuns: 150 });
});

/** A store with many tasks of one key: every tenth has `env: a`, the others `env: b`. Only the last has failed. */
async function crowdedStore(count: number) {
  const store = await openMemoryStore({ clock: new ManualClock() });
  let commit: Commit = {};
  for (let n = 0; n < count; n++) {
    const status = n === 0 ? "failed" : "completed";
    const task = taskOf(n, { status, model: itemAt(MODELS, n % 2), metadata: { env: n % 10 === 0 ? "a" : "b" } });
    const { set = [] } = addTask({}, task, store.now());
    commit = mergeCommits(commit, { set });
    if ((n + 1) % 50 > 0) continue;
    await store.commit(null, commit);
    commit = {};
  }
  const spent = { scans: 0, tasks: 0 };
  const counting = new Proxy(store, {
    get(target, name: keyof Store) {
      if (name === "scan") {
        return (...given: Parameters<Store["scan"]>) => {
          spent.scans++;
          return target.scan(...given);
        };
      }
      if (name === "get") {
        return (keys: Parameters<Store["get"]>[0]) => {
          spent.tasks += keys.length;
          return target.get(keys);
        };
      }
      return storeMember(target, name);
    },
  });
  return { store: counting, spent };
}

let made: ReturnType<typeof crowdedStore> | null = null;
const crowded = () => made ??= crowdedStore(12_000);

Deno.test("listOwnTasks() reads the index and only the returned tasks, for any number of tasks", async () => {
  const { store, spent } = await crowded();
  const page = { after: null, limit: 20, reverse: true };
  const costs: [filter: OwnTaskFilter, found: number, scans: number][] = [
    [ALL, 20, 1],
    [{ ...ALL, status: "completed" }, 20, 1],
    [{ ...ALL, status: "failed" }, 1, 1],
    [{ ...ALL, status: "pending" }, 0, 1],
    [{ ...ALL, status: "failed", model: itemAt(MODELS, 0), metadata: [["env", "a"]] }, 1, 4],
    [{ ...ALL, status: "completed", metadata: [["env", "nowhere"]] }, 0, 1],
  ];
  for (const [filter, found, scans] of costs) {
    Object.assign(spent, { scans: 0, tasks: 0 });
    const { tasks } = await listOwnTasks(store, "key", filter, page);
    assertEquals([tasks.length, spent.tasks], [found, found], JSON.stringify(filter));
    assert(spent.scans <= scans, `${spent.scans} scans for ${JSON.stringify(filter)}`);
  }
});

Deno.test("listOwnTasks() ends a page without common ids after the maximum number of reads, and the next continues", async () => {
  const { store, spent } = await crowded();
  // Odd numbers have the other model, and only every tenth has `env: a`: two long lists without a common task.
  const filter = { ...ALL, model: itemAt(MODELS, 1), metadata: [["env", "a"]] } as const;
  let pages = 0;
  for (let after: string | null = null;;) {
    Object.assign(spent, { scans: 0, tasks: 0 });
    const { tasks, next } = await listOwnTasks(store, "key", filter, { after, limit: 20, reverse: true });
    assertEquals(tasks, []);
    assert(spent.scans <= MAX_PAGE_SCANS);
    pages++;
    if (next === null) break;
    assert(after === null || next < after, "every page gets on");
    after = next;
  }
  assert(pages > 1);
});

Deno.test("listOwnTasks() omits a task that ended while the page was read", async () => {
  const store = await storeWith([taskOf(0), taskOf(1)]);
  const racing = new Proxy(store, {
    get(target, name: keyof Store) {
      if (name !== "scan") return storeMember(target, name);
      return async (...given: Parameters<Store["scan"]>) => {
        const entries = await target.scan(...given);
        const entry = await readTask(target, taskOf(0).id);
        await target.commit(null, changeTask({}, entry!, { status: "completed" }));
        return entries;
      };
    },
  });
  const page = { after: null, limit: 20, reverse: true };
  const { tasks } = await listOwnTasks(racing, "key", { ...ALL, status: "pending" }, page);
  assertEquals(tasks.map(({ id }) => id), [taskOf(1).id]);
});

Deno.test("indexOldTasks() indexes tasks of earlier versions by status and model", async () => {
  const store = await openMemoryStore({ clock: new ManualClock() });
  const tasks = Array.from(
    { length: 90 },
    (_, n) => taskOf(n, { status: itemAt(VIDEO_STATUSES, n % 5), model: itemAt(MODELS, n % 2) }),
  );
  for (const task of tasks) {
    const { set = [] } = addTask({}, task, store.now());
    await store.commit(null, { set: set.filter(({ key }) => key[1] !== "own_by") });
  }
  await indexOldTasks(store);
  const filter = { ...ALL, status: "failed", model: itemAt(MODELS, 1) } as const;
  assertEquals(await pagedIds(store, "key", filter, 4, true), expectedIds(tasks, "key", filter, true));
});

Deno.test("removeTask() removes a task from the index completely", async () => {
  const store = await storeWith([taskOf(0, { status: "failed", metadata: { env: "a", "team.x": "b" } })]);
  const entry = await readTask(store, taskOf(0).id);
  assert((await store.commit(null, removeTask({}, entry!))).ok);
  for (const list of ["task", "own", "own_by", "time", "account_time"]) {
    assertEquals(await store.scan(["video", list], { limit: 9 }), [], list);
  }
});
