import { assert, assertEquals } from "@std/assert";
import { packTask, unpackTask } from "../../src/services/videos/tasks/packed_task.ts";
import { changeTask, readTask, readTasks } from "../../src/services/videos/tasks/records.ts";
import type { VideoTask } from "../../src/services/videos/tasks/task.ts";
import { CALLER, DONE, openStage } from "./stage.ts";
import { taskOf } from "./tasks.ts";

const FULL: Partial<VideoTask> = {
  status: "completed",
  modelName: "film",
  prompt: "\0 A lighthouse, „dusk“ ☾ \ud83c",
  metadata: { __proto__x: "1", i: "not an id", order: "\0n5" },
  size: "1280x720",
  callbackUrl: "https://receiver.example/hook",
  pin: "vendor",
  stage: { step: "submitted", provider: "vendor", model: "m", job: { id: "job", place: null }, since: 5 },
  progress: { progressPercent: 12.5, startedAt: 7 },
  results: [{ url: "https://vendor.example/1", needsCredential: true }, { url: null, needsCredential: true }],
  mirrors: ["a-0.mp4"],
  extras: [{ type: "thumbnail", url: "https://vendor.example/2" }],
  extraMirrors: ["a-extra-0.png"],
  mirroring: true,
  renewedAt: 8,
  copiedAt: 9,
  recopy: { run: 2, done: 1 },
  usage: { seconds: 5, cost: 5_000_000_000n },
};

Deno.test("an ended task is stored compact and read unchanged", () => {
  for (const status of ["completed", "failed", "cancelled", "expired"] as const) {
    const overs = [{}, FULL, { error: { code: "upstream_error", message: "no" } }];
    const { offers: _offers, ...withoutOffers } = taskOf(1, { status });
    for (const task of [...overs.map((over) => taskOf(1, { ...over, status })), withoutOffers]) {
      const stored = packTask(task);
      assert(stored instanceof Uint8Array);
      assertEquals(unpackTask(stored), task);
    }
  }
});

Deno.test("a pending task is stored as an object", () => {
  const task = taskOf(1);
  assertEquals([packTask(task), unpackTask(task)], [task, task]);
});

Deno.test("a task ended by an earlier version is read, listed and changed like any other", async () => {
  const stage = await openStage();
  const old = taskOf(1, { ...FULL, mirroring: false, keyId: CALLER.keyId });
  await stage.store.commit(null, { set: [{ key: ["video", "task", old.id], value: old }] });
  assertEquals([(await readTask(stage.store, old.id))!.value, await readTasks(stage.store, [old.id])], [old, [old]]);
  await stage.store.commit(null, changeTask({}, (await readTask(stage.store, old.id))!, { copiedAt: 77 }));
  assertEquals((await readTask(stage.store, old.id))!.value, { ...old, copiedAt: 77 });
  assertEquals((await stage.read(old.id)).prompt, old.prompt);
});

Deno.test("a typical ended task takes less than a quarter of a database page, so that four share one", async () => {
  const stage = await openStage();
  const hex = (bytes: number) => crypto.getRandomValues(new Uint8Array(bytes)).toHex();
  const url = `https://ark-content-generation.example/seedance/${hex(24)}.mp4?X-Tos-Algorithm=TOS4-HMAC-SHA256` +
    `&X-Tos-Credential=AKLT${hex(16)}&X-Tos-Date=20261122T101010Z&X-Tos-Expires=86400&X-Tos-Signature=${hex(32)}`;
  stage.vendor.progress = () => ({ ...DONE, results: [{ url, needsCredential: false }] }) as typeof DONE;
  const prompt = "A lighthouse at dusk, waves break on the rocks below, a slow pan to the left, then the lamp is lit";
  const id = await stage.create({ prompt, callback_url: "https://93.184.216.34/hooks/videos?account=42" });
  await stage.runDue();
  stage.clock.advance(20_000);
  await stage.runDue();
  const [entry] = await stage.store.get<Uint8Array>([["video", "task", id]]);
  assert(entry!.value.length < 900, `it takes ${entry!.value.length} bytes`);
});
