import { assert, assertEquals, assertRejects } from "@std/assert";
import { GatewayError } from "../../src/platform/lib/basics/gateway_error.ts";
import { openMemoryStore } from "../support/memory_store.ts";
import { changedJobStore } from "../../src/platform/store/changed_store.ts";
import type { Store } from "../../src/platform/store/store.ts";
import { changeTask, readTask } from "../../src/services/videos/tasks/records.ts";
import type { TaskEventReader } from "../../src/services/videos/events/task_events.ts";
import { SHARED_READ_MS, TaskWatch, type TaskWatcher, TICK_MS } from "../../src/services/videos/events/task_watch.ts";
import { itemAt } from "../support/items.ts";
import { ManualClock } from "../support/manual_clock.ts";
import { CALLER, DONE, openStage, type Stage } from "./stage.ts";
import { taskOf } from "./tasks.ts";
import { storeMember } from "../support/store_member.ts";

const decoder = new TextDecoder();
const encoder = new TextEncoder();

let isKeyGood = true;

const WRITER: TaskEventReader = {
  isAuthorized: () => Promise.resolve(isKeyGood),
  opening: encoder.encode("opening"),
  heartbeat: encoder.encode("heartbeat"),
  write: ({ id, status, task }) => encoder.encode(`${id} ${status} ${task.progress ?? "-"}`),
};

/** Reads one stream like a caller. */
class Reader {
  readonly #reader: ReadableStreamDefaultReader<Uint8Array>;

  constructor(stream: ReadableStream<Uint8Array>) {
    this.#reader = stream.getReader();
  }

  /** Returns the next piece; null at the end. */
  async next(): Promise<string | null> {
    const { done, value } = await this.#reader.read();
    return done ? null : decoder.decode(value);
  }

  leave(): Promise<void> {
    return this.#reader.cancel();
  }
}

async function open(stage: Stage, id: string, lastEventId: string | null = null): Promise<Reader> {
  const stream = await stage.videos.events(CALLER.keyId, id, lastEventId, WRITER);
  assert(stream !== null);
  return new Reader(stream);
}

/** Sets the vendor's progress of a task, like the polling job. */
async function setProgress(store: Store, id: string, progressPercent: number): Promise<void> {
  const entry = await readTask(store, id);
  assert((await store.commit(null, changeTask({}, entry!, { progress: { progressPercent } }))).ok);
}

/** Returns `<id> <status> <progress>` without the id. */
const withoutId = (piece: string | null) => piece?.split(" ").slice(1).join(" ");

/** Runs the jobs until the task has ended. */
async function complete(stage: Stage): Promise<void> {
  stage.vendor.progress = () => DONE;
  await stage.runDue();
  stage.clock.advance(60_000);
  await stage.runDue();
}

Deno.test("an event stream starts with the current state, sends each change immediately and ends with the task", async () => {
  const stage = await openStage();
  const id = await stage.create();
  const reader = await open(stage, id);
  assertEquals(await reader.next(), "opening");
  assertEquals(withoutId(await reader.next()), "pending -");
  await complete(stage);
  assertEquals(withoutId(await reader.next()), "pending -", "the hand-over names the provider");
  assertEquals(withoutId(await reader.next()), "completed 100");
  assertEquals(await reader.next(), null);
});

Deno.test("a stream of an ended task sends its last state and closes; a reader that received it gets no stream", async () => {
  const stage = await openStage();
  const id = await stage.create();
  await complete(stage);
  const reader = await open(stage, id);
  assertEquals(await reader.next(), "opening");
  const last = await reader.next();
  assertEquals([withoutId(last), await reader.next()], ["completed 100", null]);
  assertEquals(await stage.videos.events(CALLER.keyId, id, itemAt(last!.split(" "), 0), WRITER), null);
});

Deno.test("a reader that reconnects gets only events since its last one", async () => {
  const stage = await openStage();
  const id = await stage.create();
  const first = await open(stage, id);
  await first.next();
  const seen = (await first.next())!.split(" ")[0];
  await first.leave();
  const second = await open(stage, id, seen);
  assertEquals(await second.next(), "opening");
  await complete(stage);
  assertEquals(withoutId(await second.next()), "pending -", "the hand-over names the provider");
  assertEquals(withoutId(await second.next()), "completed 100");
  const third = await open(stage, id, "something else");
  assertEquals([await third.next(), withoutId(await third.next())], ["opening", "completed 100"]);
});

Deno.test("the timer finds changes by another process, with heartbeats in between", async () => {
  const stage = await openStage();
  const id = await stage.create();
  const reader = await open(stage, id);
  await reader.next();
  await reader.next();
  const silence = reader.next();
  stage.clock.advance(TICK_MS);
  assertEquals(await silence, "heartbeat");
  await setProgress(stage.store, id, 40); // not through the engine's own store
  const change = reader.next();
  stage.clock.advance(TICK_MS);
  assertEquals(withoutId(await change), "pending 40");
});

Deno.test("a slow reader gets the newest state; one that reads nothing for a minute is disconnected", async () => {
  const stage = await openStage();
  const id = await stage.create();
  const reader = await open(stage, id);
  for (const percent of [10, 20, 30]) {
    await setProgress(stage.store, id, percent);
    stage.clock.advance(TICK_MS);
    await settled();
  }
  assertEquals([await reader.next(), withoutId(await reader.next())], ["opening", "pending 30"]);
  for (let tick = 0; tick < 6; tick++) {
    stage.clock.advance(TICK_MS);
    await settled();
  }
  assertEquals([await reader.next(), await reader.next()], ["heartbeat", null]);
  assertEquals(stage.clock.waiting, 0);
});

Deno.test("a stream ends at the next tick after its reader's key is revoked", async () => {
  const stage = await openStage();
  const id = await stage.create();
  const reader = await open(stage, id);
  await reader.next();
  await reader.next();
  isKeyGood = false;
  stage.clock.advance(TICK_MS);
  assertEquals([await reader.next(), await reader.next()], ["heartbeat", null]);
  isKeyGood = true;
});

Deno.test("a credential has a maximum number of streams; each that ends frees a place", async () => {
  const stage = await openStage();
  const id = await stage.create();
  const readers = [await open(stage, id), await open(stage, id), await open(stage, id)];
  const refused = await assertRejects(() => open(stage, id), GatewayError);
  assertEquals([refused.code, refused.details.retryAfterSeconds], ["rate_limited", 5]);
  await itemAt(readers, 0).leave();
  readers.push(await open(stage, id));
  await complete(stage);
  for (const reader of readers.slice(1)) while (await reader.next() !== null);
  for (let n = 0; n < 3; n++) await open(stage, id);
});

Deno.test("a stream of an unknown, malformed or foreign task is not_found", async () => {
  const stage = await openStage();
  const id = await stage.create();
  for (const [keyId, name] of [[CALLER.keyId, crypto.randomUUID()], [CALLER.keyId, "abc"], ["another", id]] as const) {
    const error = await assertRejects(() => stage.videos.events(keyId, name, null, WRITER), GatewayError);
    assertEquals(error.code, "not_found");
  }
});

Deno.test("all streams end before the process exits, and later ones end immediately", async () => {
  const stage = await openStage();
  const id = await stage.create();
  const reader = await open(stage, id);
  await reader.next();
  await reader.next();
  stage.videos.endEvents();
  assertEquals(await reader.next(), null);
  const late = await open(stage, id);
  assertEquals([await late.next(), await late.next()], ["opening", null]);
  assertEquals(stage.clock.waiting, 0);
});

Deno.test("a change of a watched task is reported from its commit without a read, for any number of watchers", async () => {
  const clock = new ManualClock();
  const store = await openMemoryStore({ clock });
  let reads = 0;
  const counting = new Proxy(store, {
    get(target, name: keyof Store) {
      if (name === "get") reads++;
      return storeMember(target, name);
    },
  });
  const task = taskOf(1);
  await store.commit(null, { set: [{ key: ["video", "task", task.id], value: task }] });
  const watch = new TaskWatch(counting, clock);
  const write = () => watch.observedStore().commit(null, { set: [{ key: ["video", "task", task.id], value: task }] });
  await write();
  assertEquals(reads, 0);
  const heard: string[] = [];
  const watcher = (name: string): TaskWatcher => ({
    onTask: () => heard.push(name),
    onTick: () => {},
    onClose: () => {},
  });
  const stops = ["a", "b", "c"].map((name) => watch.watch(task.id, watcher(name)));
  await settled();
  reads = heard.length = 0;
  await write();
  await settled();
  assertEquals([reads, heard], [0, ["a", "b", "c"]]);
  for (const stop of stops) stop();
  await write();
  assertEquals([reads, clock.waiting], [0, 0]);
});

Deno.test("a change by another process is reported within two seconds if processes share the store", async () => {
  const clock = new ManualClock();
  const store = await openMemoryStore({ clock });
  const write = (prompt: string) => {
    const task = taskOf(1, { prompt });
    return store.commit(null, { set: [{ key: ["video", "task", task.id], value: task }] });
  };
  await write("old");
  const watch = new TaskWatch(changedJobStore(store, { jobLeaseMs: 10_000 }), clock);
  const reported: (string | undefined)[] = [];
  let ticks = 0;
  watch.watch(taskOf(1).id, {
    onTask: (task) => reported.push(task?.prompt),
    onTick: () => ticks++,
    onClose: () => {},
  });
  await settled();
  await write("new");
  clock.advance(SHARED_READ_MS);
  await settled();
  assertEquals([reported, ticks], [["old", "new"], 0]);
  for (let n = 1; n < TICK_MS / SHARED_READ_MS; n++) {
    clock.advance(SHARED_READ_MS);
    await settled();
  }
  assertEquals(ticks, 1);
  watch.close();
});

Deno.test("a state that the timer read before a change is not reported after it", async () => {
  const clock = new ManualClock();
  const store = await openMemoryStore({ clock });
  let gate: Promise<void> | null = null;
  const slow = new Proxy(store, {
    get(target, name: keyof Store) {
      if (name !== "get") return storeMember(target, name);
      return async (keys: Parameters<Store["get"]>[0]) => {
        const entries = await target.get(keys);
        await gate;
        return entries;
      };
    },
  });
  const watch = new TaskWatch(slow, clock);
  const write = (prompt: string) => {
    const task = taskOf(1, { prompt });
    return watch.observedStore().commit(null, { set: [{ key: ["video", "task", task.id], value: task }] });
  };
  await write("old");
  const heard: (string | undefined)[] = [];
  watch.watch(taskOf(1).id, {
    onTask: (task) => heard.push(task?.prompt),
    onTick: () => heard.push("tick"),
    onClose: () => {},
  });
  await settled();
  const { promise, resolve: release } = Promise.withResolvers<void>();
  gate = promise;
  clock.advance(TICK_MS); // reads the old state, and is delayed
  await settled();
  gate = null;
  await write("new");
  await settled();
  release();
  await settled();
  assertEquals(heard, ["old", "new", "tick"]);
  watch.close();
});

/** Waits for running reads of a store in memory. */
function settled(): Promise<void> {
  return new Promise((resolve) => setTimeout(resolve, 5));
}
