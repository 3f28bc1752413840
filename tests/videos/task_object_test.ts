import { assert, assertEquals } from "@std/assert";
import type { VideoTask } from "../../src/services/videos/tasks/task.ts";
import { locationsOf } from "../../src/services/videos/results/content.ts";
import { taskObjectOf } from "../../src/services/videos/tasks/task_object.ts";
import { taskOf } from "./tasks.ts";

const PARTS = {
  baseUrl: () => "https://gateway.example",
  signingKeys: [{ id: "one", secret: new Uint8Array(32) }],
  settings: { signedUrlMs: 60_000 },
};

const ID = taskOf(1).id;

const objectOf = (over: Partial<VideoTask>) => taskObjectOf(taskOf(1, over), 5_000, PARTS);

const EXTRAS: Partial<VideoTask> = {
  status: "completed",
  updatedAt: 9_500,
  results: [
    { url: "https://vendor.example/a.mp4", needsCredential: false },
    { url: "https://vendor.example/b.mp4", needsCredential: true },
    { url: null, needsCredential: true },
  ],
  mirrors: [`${ID}-0.mp4`],
  extras: [
    { type: "thumbnail", url: "https://vendor.example/thumb.png" },
    { type: "last_frame", url: "https://vendor.example/last.png" },
  ],
  extraMirrors: [`${ID}-extra-0.png`, `${ID}-extra-1.png`],
};

Deno.test("taskObjectOf() has progress only if the vendor reports it", () => {
  const object = objectOf({ progress: { progressPercent: 37, queuePosition: 0, startedAt: 3_700 } });
  assertEquals([object.progress, object.queue_position, object.started_at], [37, 0, 3]);
  for (const progress of [undefined, {}, { progressPercent: null, queuePosition: null, startedAt: null }]) {
    const silent = objectOf(progress === undefined ? {} : { progress });
    assert(!("progress" in silent) && !("queue_position" in silent) && !("started_at" in silent));
  }
});

Deno.test("taskObjectOf() has progress 100 for a completed task and no queue position for an ended one", () => {
  const progress = { progressPercent: 80, queuePosition: 3, startedAt: 3_700 };
  const done = objectOf({ status: "completed", updatedAt: 9_500, progress });
  assertEquals([done.progress, done.queue_position, done.started_at, done.completed_at], [100, undefined, 3, 9]);
  const failed = objectOf({ status: "failed", updatedAt: 9_500, progress });
  assertEquals([failed.progress, failed.queue_position, failed.completed_at], [80, undefined, null]);
});

Deno.test("taskObjectOf() names the fields of the create that a provider does not support", () => {
  assertEquals(objectOf({ dropped: ["seed", "aspect_ratio"] }).dropped, ["seed", "aspect_ratio"]);
  assert(!("dropped" in objectOf({})));
});

Deno.test("taskObjectOf() has the addresses of the extras at the vendor and at the gateway", () => {
  const task = objectOf(EXTRAS);
  assertEquals([task.thumbnail_url, task.last_frame_url], [
    "https://vendor.example/thumb.png",
    "https://vendor.example/last.png",
  ]);
  assert(task.thumbnail_mirror_url?.startsWith(`https://gateway.example/files/${ID}-extra-0.png?expires=`));
  assert(task.last_frame_mirror_url?.startsWith(`https://gateway.example/files/${ID}-extra-1.png?expires=`));
  assertEquals(task.unsigned_urls, ["https://vendor.example/a.mp4", "https://vendor.example/b.mp4"]);
});

Deno.test("taskObjectOf() reads tasks of earlier versions", () => {
  const task = objectOf({});
  assertEquals([task.metadata, task.size, task.seconds], [{}, undefined, "5"]);
  assertEquals(task.polling_url, `https://gateway.example/v1/videos/${taskOf(1).id}`);
});

Deno.test("locationsOf() returns each content of a task, and a vendor address only if it needs no credential", () => {
  const task = taskOf(1, EXTRAS);
  assertEquals(locationsOf(task, { type: "video", index: 0 }), {
    mirror: `${ID}-0.mp4`,
    vendorUrl: "https://vendor.example/a.mp4",
  });
  for (const index of [1, 2, 3]) {
    assertEquals(locationsOf(task, { type: "video", index }), { mirror: undefined, vendorUrl: undefined });
  }
  assertEquals(locationsOf(task, { type: "last_frame" }), {
    mirror: `${ID}-extra-1.png`,
    vendorUrl: "https://vendor.example/last.png",
  });
  assertEquals(locationsOf(taskOf(1), { type: "thumbnail" }), { mirror: undefined, vendorUrl: undefined });
});
