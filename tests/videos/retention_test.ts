import { assert, assertEquals, assertRejects } from "@std/assert";
import { GatewayError } from "../../src/platform/lib/basics/gateway_error.ts";
import { createJobRunner } from "../../src/platform/store/job_runner.ts";
import { retentionHandler } from "../../src/entry/app/jobs/retention.ts";
import { recopyResults } from "../../src/services/videos/upkeep/recopy.ts";
import { fileSweep, taskSweep } from "../../src/services/videos/upkeep/retention.ts";
import { addCopiedTask, addTask, readTask } from "../../src/services/videos/tasks/records.ts";
import { newTaskId } from "../../src/services/videos/tasks/task_id.ts";
import { createVideos } from "../../src/services/videos/videos.ts";
import { itemAt } from "../support/items.ts";
import { BODY, CALLER, DONE, openStage, type Stage } from "./stage.ts";
import { FILES_MS, onResultStage, type ResultStage, serveSample } from "./result_stage.ts";
import { storeTimeOf } from "../../src/platform/store/store_time.ts";
import { untilSo } from "../support/patience.ts";

const TASKS_MS = 30 * 86_400_000;

/** Returns every key of the store that contains a task's id. */
async function keysOf({ store }: Stage, id: string): Promise<string[]> {
  const areas = ["video", "billing", "event"];
  const entries = await Promise.all(areas.map((area) => store.scan([area], { limit: 5_000 })));
  return entries.flat().map(({ key }) => key.join(" ")).filter((key) => key.includes(id));
}

/** Creates a task that ends as the vendor reports, and copies of it with other ids. */
async function ended(stage: Stage, count: number, progress = DONE): Promise<string[]> {
  stage.vendor.progress = () => progress;
  const first = await stage.create();
  await stage.runDue(["video_submit"]);
  stage.clock.advance(20_000);
  await stage.runDue(["video_poll"]);
  const { value: task } = (await readTask(stage.store, first))!;
  const others = Array.from({ length: count - 1 }, () => newTaskId(stage.clock.now()));
  await Promise.all(others.map((id) => stage.store.commit(null, addTask({}, { ...task, id }, stage.store.now()))));
  while (await stage.runDue(["video_submit"]) > 0); // they have ended, so their jobs do nothing
  return [first, ...others];
}

onResultStage("ended tasks are removed with all their data except their ledger entries", async (on) => {
  const { stage } = on;
  const id = await on.complete();
  await on.run("video_mirror");
  const sweep = taskSweep(on.parts, TASKS_MS);
  const ledger = await stage.store.ledger("demo", { limit: 100 });
  stage.clock.advance(TASKS_MS - 1);
  await sweep();
  assertEquals([(await readTask(stage.store, id)) !== null, on.names().length], [true, 1]);
  stage.clock.advance(1);
  assertEquals([await sweep(), await keysOf(stage, id), on.names()], [false, [`event ${id} completed`], []]);
  assertEquals(await stage.store.ledger("demo", { limit: 100 }), ledger);
  await assertRejects(() => on.videos.read(CALLER.keyId, id), GatewayError, "Cannot find the video task");
});

Deno.test("ended tasks of every status are removed in steps of a hundred; pending and newer ones stay", async () => {
  const stage = await openStage();
  await ended(stage, 250, { status: "failed", code: "upstream_error", message: "no" });
  await ended(stage, 90, { status: "cancelled" });
  await ended(stage, 90, { status: "expired" });
  stage.clock.advance(TASKS_MS);
  const young = await ended(stage, 3, { status: "expired" });
  stage.vendor.progress = () => ({ status: "pending", isRunning: true });
  const pending = await stage.create();
  const sweep = taskSweep(stage.parts, TASKS_MS);
  let steps = 1;
  while (await sweep()) steps++;
  const left = await stage.store.scan(["video", "task"], { limit: 1_000 });
  assertEquals(left.map(({ key }) => String(key[2])).toSorted(), [...young, pending].toSorted());
  assertEquals(steps, 3);
});

Deno.test("a task stays until its event was delivered and its results were copied", async () => {
  const stage = await openStage();
  const undelivered = itemAt(await ended(stage, 1, { status: "expired" }), 0);
  const copying = itemAt(await ended(stage, 1), 0);
  stage.clock.advance(TASKS_MS);
  let isPending = true;
  const sweep = taskSweep(
    { ...stage.parts, onRemoval: (id) => Promise.resolve(!(id === undelivered && isPending)) },
    TASKS_MS,
  );
  await sweep();
  assertEquals([(await readTask(stage.store, undelivered)) !== null, (await readTask(stage.store, copying)) !== null], [
    true,
    true,
  ]);
  isPending = false;
  await stage.runDue(["video_mirror"]);
  await sweep();
  assertEquals([await readTask(stage.store, undelivered), await readTask(stage.store, copying)], [null, null]);
});

onResultStage("a task whose copies are removed at the same time is removed in the same pass", async (on) => {
  const id = await on.complete();
  await on.run("video_mirror");
  on.stage.clock.advance(TASKS_MS);
  const files = fileSweep(on.parts, FILES_MS);
  let isFirst = true;
  const onRemoval = async () => {
    if (isFirst) await files();
    isFirst = false;
    return true;
  };
  await taskSweep({ ...on.parts, onRemoval }, TASKS_MS)();
  assertEquals([await readTask(on.stage.store, id), on.names()], [null, []]);
});

onResultStage(
  "copies stay while the event with their addresses is being delivered, and delay no others",
  async (on) => {
    const undelivered: string[] = [];
    for (let task = 0; task < 3; task++) undelivered.push(await on.complete());
    await on.run("video_mirror");
    // Enough to fill a step.
    const others = Array.from({ length: 100 }, (_, n) => ({ id: newTaskId(n), copiedAt: 1 }));
    for (const kept of others) await on.stage.store.commit(null, addCopiedTask({}, kept));
    const isPending = new Set([...undelivered.slice(0, 2), ...others.map(({ id }) => id)]);
    const parts = { ...on.parts, hasPendingDelivery: (id: string) => Promise.resolve(isPending.has(id)) };
    on.stage.clock.advance(FILES_MS);
    const sweep = fileSweep(parts, FILES_MS);
    assertEquals([await sweep(), await sweep()], [true, false]);
    assertEquals(on.names(), undelivered.slice(0, 2).map((id) => `${id}-0.mp4`));
    isPending.clear();
    while (await sweep());
    assertEquals([on.names(), await on.stage.store.scan(["video", "kept_files"], { limit: 1 })], [[], []]);
  },
);

onResultStage(
  "copies replaced during the removal of expired ones stay, and their task has their names",
  async (on) => {
    on.stage.vendor.resultLifetimeMs = 2 * FILES_MS;
    const id = await on.complete();
    await on.run("video_mirror");
    on.stage.clock.advance(FILES_MS);
    await recopyResults(on.stage.store, id);
    on.host.answer = () => new Response(null, { status: 503 });
    await on.run("video_mirror");
    await on.sweepFiles();
    on.host.answer = serveSample;
    on.stage.clock.advance(60_000);
    await on.run("video_mirror");
    await on.sweepFiles();
    const { mirror_urls: urls } = await on.videos.read(CALLER.keyId, id);
    assertEquals([urls?.length, on.names()], [1, [`${id}-0.mp4`]]);
    on.stage.clock.advance(FILES_MS);
    await on.sweepFiles();
    assertEquals([(await on.videos.read(CALLER.keyId, id)).mirror_urls, on.names()], [[], []]);
  },
);

Deno.test("a step removes few tasks concurrently, so that requests are served in between", async () => {
  const stage = await openStage();
  await ended(stage, 60, { status: "expired" });
  stage.clock.advance(TASKS_MS);
  let [atWork, max] = [0, 0];
  const onRemoval = async () => {
    max = Math.max(max, ++atWork);
    await new Promise((resolve) => setTimeout(resolve, 1));
    return --atWork >= 0;
  };
  await taskSweep({ ...stage.parts, onRemoval }, TASKS_MS)();
  assertEquals((await stage.store.scan(["video", "task"], { limit: 100 })).length, 0);
  assert(max <= 10, `${max} at once`);
});

onResultStage("the removal of a task accesses only its own files", async (on) => {
  const id = await on.complete();
  await on.run("video_mirror");
  on.stage.clock.advance(TASKS_MS);
  const names: string[] = [];
  const remove = (name: string) => {
    names.push(name);
    return on.parts.files.remove(name);
  };
  await taskSweep({ ...on.parts, files: { ...on.parts.files, remove } }, TASKS_MS)();
  assertEquals([names, on.names()], [[`${id}-0.mp4`], []]);
});

Deno.test("nothing is removed without a retention period", async () => {
  const stage = await openStage();
  const id = itemAt(await ended(stage, 1, { status: "expired" }), 0);
  stage.clock.advance(100 * TASKS_MS);
  assertEquals([await taskSweep(stage.parts, null)(), (await readTask(stage.store, id)) !== null], [false, true]);
});

Deno.test("a removal interrupted by a restart is completed by the next process", async () => {
  const stage = await openStage();
  await ended(stage, 95, { status: "expired" });
  await ended(stage, 95, { status: "expired" });
  stage.clock.advance(TASKS_MS);
  await stage.store.commit(null, {
    addJobs: [{ kind: "retention", ref: "all", dueAt: storeTimeOf(stage.clock.now()) }],
  });
  const count = async () => (await stage.store.scan(["video", "task"], { limit: 1_000 })).length;
  const runner = (sweep = taskSweep(stage.parts, TASKS_MS)) =>
    createJobRunner({
      store: stage.store,
      clock: stage.clock,
      log: stage.parts.log,
      handlers: { retention: retentionHandler({ store: stage.store, sweeps: [sweep] }) },
    });
  const first = runner();
  await untilSo(async () => await count() !== 190);
  await first.drain(1_000);
  const left = await count();
  const second = runner();
  stage.clock.advance(30_000);
  while (await count() > 0) {
    stage.clock.advance(50);
    await new Promise((resolve) => setTimeout(resolve, 1));
  }
  await second.drain(1_000);
  assertEquals([left > 0, left < 190], [true, true]);
});

/** Removes an ended task. */
async function purge(on: ResultStage, id: string, keyId = CALLER.keyId): Promise<string> {
  try {
    await on.videos.purge(keyId, id);
    return "removed";
  } catch (error) {
    return (error as GatewayError).code;
  }
}

onResultStage("a purge removes an ended task for its own credential, once", async (on) => {
  const id = await on.complete();
  await on.run("video_mirror");
  assertEquals(await purge(on, id, "another"), "not_found");
  assertEquals([await purge(on, id), on.names()], ["removed", []]);
  assertEquals(await keysOf(on.stage, id), [`event ${id} completed`]);
  assertEquals([await purge(on, id), await purge(on, "no id")], ["not_found", "not_found"]);
  assertEquals(await on.stream(`${id}-0.mp4`), null);
});

onResultStage("a purge of a pending task is rejected and changes nothing", async (on) => {
  const id = await on.stage.create();
  assertEquals([await purge(on, id), (await on.stage.read(id)).status], ["invalid_request", "pending"]);
});

onResultStage("a purge is rejected while the task's event is being delivered", async (on) => {
  const id = await on.complete();
  const videos = createVideos({ ...on.parts, onRemoval: () => Promise.resolve(false) }, {
    polling: { requests: 1, perMs: 1, burst: 1 },
    eventStreams: 1,
  });
  assertEquals((await assertRejects(() => videos.purge(CALLER.keyId, id), GatewayError)).code, "conflict");
  assertEquals((await on.stage.read(id)).status, "completed");
});

onResultStage("a copy in progress when its task is purged leaves no file", async (on) => {
  const id = await on.complete();
  const held = Promise.withResolvers<Response>();
  const serve = on.host.answer;
  on.host.answer = () => held.promise;
  const running = on.run("video_mirror");
  await untilSo(() => on.host.seen.length !== 0);
  assertEquals(await purge(on, id), "removed");
  held.resolve(serve(new Request(on.host.url)));
  await running;
  while (await on.run("video_mirror") > 0);
  assertEquals([on.names(), await keysOf(on.stage, id)], [[], [`event ${id} completed`]]);
});

onResultStage("a repeat of a create whose task was removed creates no other task", async (on) => {
  const call = { ...CALLER, body: BODY, key: { key: "once", bodyHash: "01" } };
  on.stage.vendor.progress = () => ({ status: "expired" });
  const { taskId } = await on.videos.create(call);
  await on.run("video_submit");
  on.stage.clock.advance(20_000);
  await on.run("video_poll");
  assertEquals((await on.videos.create(call)).taskId, taskId);
  assertEquals(await purge(on, taskId), "removed");
  assertEquals((await assertRejects(() => on.videos.create(call), GatewayError)).code, "not_found");
  assertEquals((await on.stage.store.scan(["video", "task"], { limit: 10 })).length, 0);
});
