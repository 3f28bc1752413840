import { assert, assertEquals } from "@std/assert";
import { countingStore, type StoreReads } from "../../bench/counting_store.ts";
import { buildFleet } from "../../bench/fleet_build.ts";
import { CALLER, type FleetEngine, MODELS, openFleetEngine } from "../../bench/fleet_engine.ts";
import type { OwnTaskFilter } from "../../src/services/videos/tasks/own_tasks.ts";
import { readTasks } from "../../src/services/videos/tasks/records.ts";
import type { TaskObject } from "../../src/services/videos/tasks/task_object.ts";

const FINISHED = 500;
const OPEN = 50;
const ENDS_AT = 1_800_000_000_000;
const DAY_MS = 86_400_000;
const POLLS_PER_SECOND = 5;
const ALL: OwnTaskFilter = { status: null, model: null, metadata: [] };

/** The fleet's store and files, built once. Its process ended without returning the tasks that it watched. */
let built: Promise<string> | null = null;

async function build(): Promise<string> {
  const folder = await Deno.makeTempDir();
  await buildFleet({ folder, finished: FINISHED, open: OPEN, endsAt: ENDS_AT });
  return folder;
}

interface Fleet extends FleetEngine {
  readonly reads: StoreReads;
  readonly files: string;
}

/** Runs a test with the next process over a copy of that store. */
function onFleet(name: string, test: (fleet: Fleet) => Promise<void>): void {
  Deno.test(name, async () => {
    const [from, folder] = [await (built ??= build()), await Deno.makeTempDir()];
    await Deno.copyFile(`${from}/store.db`, `${folder}/store.db`);
    await Deno.mkdir(`${folder}/files`);
    for (const { name } of Deno.readDirSync(`${from}/files`)) {
      await Deno.copyFile(`${from}/files/${name}`, `${folder}/files/${name}`);
    }
    let reads: StoreReads | null = null;
    const engine = await openFleetEngine({
      folder,
      at: ENDS_AT + 60_000,
      pollsPerSecond: POLLS_PER_SECOND,
      wrapStore(store) {
        const counting = countingStore(store);
        reads = counting.reads;
        return counting.store;
      },
    });
    try {
      await test({ ...engine, reads: reads!, files: `${folder}/files` });
    } finally {
      await engine.close();
      await Deno.remove(folder, { recursive: true });
    }
  });
}

async function pendingIds({ store }: Fleet): Promise<string[]> {
  const entries = await store.scan(["video", "time", "pending"], { limit: 1_000 });
  return entries.map(({ key }) => String(key.at(-1)));
}

onFleet(
  "a restart among many ended tasks polls each pending one within the rate limit and ends it once",
  async (fleet) => {
    const { clock, store, videos, vendor, reads } = fleet;
    const open = await pendingIds(fleet);
    assertEquals(open.length, OPEN);
    vendor.progress = () => ({ status: "failed", code: "upstream_error", message: "no" });
    for (let second = 1; vendor.counts.polls < OPEN; second++) {
      clock.advance(1_000);
      await videos.poller.pollDue();
      assert(vendor.counts.polls <= (second + 1) * POLLS_PER_SECOND, `${vendor.counts.polls} polls in ${second} s`);
    }
    clock.advance(60_000);
    assertEquals(await videos.poller.pollDue(), 0);
    assertEquals(vendor.counts.polls, OPEN);
    assertEquals((await readTasks(store, open)).map(({ status }) => status), open.map(() => "failed"));
    const lines = await store.ledger(CALLER.accountId, { limit: OPEN + 1, reverse: true });
    const released = lines.filter(({ operation }) => operation === "release").map(({ reference }) => reference);
    assertEquals(released.filter((id) => open.includes(id)).toSorted(), open.toSorted());
    const known = new Set(open);
    assertEquals(
      reads.keys.filter((key) => key[1] === "task" && !known.has(String(key[2]))),
      [],
      "finished ones are not read",
    );
  },
);

/** Returns all pages of a list, each within its maximum number of reads. */
async function listAll({ videos, reads }: Fleet, filter: OwnTaskFilter, reverse: boolean): Promise<TaskObject[]> {
  const found: TaskObject[] = [];
  for (let after: string | null = null;;) {
    Object.assign(reads, { scans: 0, entries: 0, keys: [] });
    const { tasks, next } = await videos.list(CALLER.keyId, filter, { after, limit: 40, reverse });
    assert(reads.scans <= 2 && reads.entries <= 202, `${reads.scans} scans of ${reads.entries} entries`);
    assertEquals(reads.keys.length, tasks.length, "no task is read but those on the page");
    found.push(...tasks);
    if (next === null) return found;
    after = next;
  }
}

onFleet("lists of many tasks are complete and in order, and each page costs the same", async (fleet) => {
  const all = await listAll(fleet, ALL, false);
  assertEquals(all.length, FINISHED + OPEN);
  const filters: [filter: OwnTaskFilter, isMeant: (task: TaskObject, nth: number) => boolean][] = [
    [ALL, () => true],
    [{ ...ALL, status: "completed" }, ({ status }) => status === "completed"],
    [{ ...ALL, status: "pending" }, ({ status }) => status === "pending"],
    [{ ...ALL, model: MODELS[1] }, ({ model }) => model === MODELS[1]],
    [{ ...ALL, metadata: [["team", "team-7"]] }, ({ metadata }) => metadata?.team === "team-7"],
  ];
  const idsOf = (tasks: readonly TaskObject[]) => tasks.map(({ id }) => id);
  assertEquals(idsOf(all), idsOf(all).toSorted());
  for (const [filter, isMeant] of filters) {
    assertEquals(
      idsOf(await listAll(fleet, filter, true)),
      idsOf(all.filter(isMeant)).reverse(),
      JSON.stringify(filter),
    );
  }
});

onFleet(
  "retention removes all due tasks, and none that is pending or whose event is pending",
  async (fleet) => {
    const { clock, store, sweeps, files } = fleet;
    const open = await pendingIds(fleet);
    const pendingEvents = (await store.scan(["webhook", "time", "pending"], { limit: 10 })).map(({ key }) =>
      String(key.at(-1))
    );
    assertEquals(pendingEvents.length, 1);
    const steps = sweeps({ filesMs: 7 * DAY_MS, tasksMs: 30 * DAY_MS });
    const pass = async () => {
      while ((await Promise.all(steps.map((step) => step()))).includes(true));
      return (await store.scan(["video", "task"], { limit: 1_000 })).map(({ key }) => String(key[2])).toSorted();
    };
    /** Tasks with files, without those whose event, which has the files' addresses, is pending. */
    const copied = () =>
      [...Deno.readDirSync(files)].map(({ name }) => name.slice(0, 36)).filter((id) => !pendingEvents.includes(id))
        .toSorted();
    const made = copied();
    assertEquals([(await pass()).length, copied()], [FINISHED + OPEN, made]);
    clock.stall(8 * DAY_MS);
    assertEquals([(await pass()).length, copied()], [FINISHED + OPEN, []], "the copies go first");
    clock.stall(30 * DAY_MS);
    assertEquals(await pass(), [...open, ...pendingEvents].toSorted());
    const left = await store.scan(["video"], { limit: 1_000 });
    const ids = new Set([...open, ...pendingEvents]);
    const ofTasks = left.filter(({ key }) => /^[0-9a-f]{8}-/.test(String(key.at(-1))));
    assertEquals(
      ofTasks.filter(({ key }) => !ids.has(String(key.at(-1)))).map(({ key }) => key),
      [],
      "nor anything of theirs",
    );
  },
);

Deno.test.afterAll(async () => {
  if (built) await Deno.remove(await built, { recursive: true });
});
