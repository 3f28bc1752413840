import { assertEquals } from "@std/assert";
import type { JobStore } from "../../src/platform/store/store.ts";
import type { Videos } from "../../src/services/videos/videos.ts";
import { CALLER, createWith, DONE, openStage, runDue, type Stage } from "./stage.ts";

const DOUBT_MS = 300_000;

/** A stage whose vendor has no list, and whose disk is full once the vendor has a task. */
async function stageThatFills(): Promise<{ stage: Stage; videos: Videos; store: JobStore; disk: { isFull: boolean } }> {
  const stage = await openStage();
  stage.vendor.find = stage.second.find = null;
  const disk = { isFull: false };
  stage.vendor.after = () => void (disk.isFull = true);
  const store = new Proxy<JobStore>(stage.store, {
    get(target, name) {
      if (name === "commit" && disk.isFull) return () => Promise.reject(new Error("database or disk is full"));
      const value = Reflect.get(target, name);
      return typeof value === "function" ? value.bind(target) : value;
    },
  });
  return { stage, videos: stage.reopen(store), store, disk };
}

/** Runs due jobs every ten seconds, also those whose lease ended. */
async function pass({ stage, videos, store }: Awaited<ReturnType<typeof stageThatFills>>, spanMs: number) {
  for (let passed = 0; passed < spanMs; passed += 10_000) {
    stage.clock.advance(10_000);
    await runDue(store, videos);
  }
}

Deno.test("a job confirmed by a vendor without a list on a full disk is recorded once there is room, and completes", async () => {
  const filling = await stageThatFills();
  const { stage, videos, store, disk } = filling;
  const id = await createWith(videos);
  await runDue(store, videos);
  await pass(filling, DOUBT_MS / 2);
  disk.isFull = false;
  await pass(filling, DOUBT_MS);
  stage.vendor.progress = () => DONE;
  await pass(filling, 60_000);
  const { status, error } = await videos.read(CALLER.keyId, id);
  assertEquals([status, error], ["completed", undefined]);
  assertEquals([stage.vendor.accepted.get(id)?.length, stage.second.accepted.size], [1, 0]);
});

Deno.test("DELETE cancels a vendor's job that was confirmed on a full disk", async () => {
  const { stage, videos, store, disk } = await stageThatFills();
  const stopped: string[] = [];
  stage.vendor.cancel = (job) => {
    stopped.push(job.id);
    return Promise.resolve("cancelled");
  };
  const id = await createWith(videos);
  await runDue(store, videos);
  disk.isFull = false;
  stage.clock.advance(DOUBT_MS);
  assertEquals((await videos.cancel(CALLER.keyId, id)).status, "cancelled");
  assertEquals(stopped, stage.vendor.accepted.get(id));
});
