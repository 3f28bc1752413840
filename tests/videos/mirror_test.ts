import { createMediaWork } from "../../src/workers/media_work.ts";
import { systemClock } from "../../src/lib/clock.ts";
import { assertEquals } from "@std/assert";
import { openDirectory } from "../../src/files/directory.ts";
import { SAMPLE_VIDEO } from "../../src/sandbox/families/sample_video.ts";
import { createVideos, USUAL_SCHEDULE } from "../../src/videos/videos.ts";
import { createMeter } from "../../src/billing/meter.ts";
import { createCatalog } from "../../src/catalog/catalog.ts";
import { createCircuitBreaker } from "../../src/routing/circuit_breaker.ts";
import { silentLog } from "../../src/lib/log.ts";
import { CALLER, DONE, failure, openStage, runDue } from "./stage.ts";
import { readTask } from "../../src/videos/records.ts";
import type { VideoResult } from "../../src/upstreams/video_upstream.ts";

const RETENTION_MS = 86_400_000;

/** A completed task whose result only the vendor's key opens, on a real directory. */
async function completedTask(open: (result: VideoResult) => Promise<AsyncIterable<Uint8Array<ArrayBuffer>>>) {
  const stage = await openStage();
  const folder = await Deno.makeTempDir();
  const { clock, store } = stage;
  const { vendor } = stage;
  vendor.open = async (result) => ({ bytes: await open(result) });
  const results = [{ url: "https://vendor.example/files/1", needsCredential: true }];
  vendor.progress = () => ({ status: "completed", results, consumption: { seconds: null, costUsd: null } });
  const id = await stage.create();
  const videos = createVideos({
    store,
    meter: createMeter({ store, clock, log: silentLog }),
    clock,
    log: silentLog,
    catalog: createCatalog([]),
    upstreams: new Map([["vendor", vendor]]),
    isProvider: () => true,
    breaker: createCircuitBreaker({ clock }),
    files: openDirectory(folder),
    signingKeys: [{ id: "one", secret: new Uint8Array(32) }],
    egress: { allow: [], own: [] },
    media: createMediaWork({ clock: systemClock, log: silentLog }),
    baseUrl: () => "https://gateway.example",
    settings: {
      preauthorize: true,
      deadlineMs: 1,
      signedUrlMs: 60_000,
      retentionMs: RETENTION_MS,
      polling: USUAL_SCHEDULE,
      doubtMs: 300_000,
      unknownCreates: "release",
    },
    onTerminal: (commit) => commit,
    random: () => 0.5,
  }, { polling: { requests: 1, perMs: 1, burst: 1 }, eventStreams: 1 });
  await stage.runDue();
  clock.advance(20_000);
  await stage.runDue();
  const mirror = () => runDue(store, videos, ["video_mirror"]);
  const forget = () => runDue(store, videos, ["video_forget"]);
  return {
    clock,
    id,
    videos,
    mirror,
    forget,
    names: () => [...Deno.readDirSync(folder)].map(({ name }) => name),
    read: () => videos.read(CALLER.keyId, id),
  };
}

async function* whole(): AsyncGenerator<Uint8Array<ArrayBuffer>> {
  for (let at = 0; at < SAMPLE_VIDEO.length; at += 500) yield await Promise.resolve(SAMPLE_VIDEO.slice(at, at + 500));
}

async function* cut(): AsyncGenerator<Uint8Array<ArrayBuffer>> {
  yield await Promise.resolve(SAMPLE_VIDEO.slice(0, 500));
  throw failure("unknown", "broken");
}

Deno.test("a result that needs the vendor's key is copied through the adapter, kept for its time and then removed", async () => {
  const task = await completedTask(() => Promise.resolve(whole()));
  const name = `${task.id}-0.mp4`;
  assertEquals((await task.read()).mirror_urls.length, 1);
  await task.mirror();
  assertEquals([task.names(), await task.videos.whenMirrored(name)], [[name], true]);
  task.clock.advance(RETENTION_MS - 1);
  assertEquals(await task.forget(), 0);
  task.clock.advance(1);
  assertEquals([await task.forget(), task.names(), (await task.read()).mirror_urls], [1, [], []]);
  assertEquals((await task.read()).unsigned_urls, ["https://vendor.example/files/1"]);
});

Deno.test("a copy that breaks off leaves nothing, is made again, and is given up after eight attempts", async () => {
  let attempts = 0;
  const task = await completedTask(() => Promise.resolve(++attempts < 3 ? cut() : whole()));
  await task.mirror();
  assertEquals(task.names(), []);
  task.clock.advance(600_000);
  await task.mirror();
  task.clock.advance(600_000);
  await task.mirror();
  assertEquals([attempts, task.names()], [3, [`${task.id}-0.mp4`]]);

  const hopeless = await completedTask(() => Promise.resolve(cut()));
  for (let attempt = 0; attempt < 8; attempt++) {
    assertEquals(await hopeless.mirror(), 1);
    hopeless.clock.advance(600_000);
  }
  const { status, mirror_urls, unsigned_urls } = await hopeless.read();
  assertEquals([await hopeless.mirror(), status, mirror_urls, unsigned_urls.length], [0, "completed", [], 1]);
});

Deno.test("nobody waits for a file that no task promises", async () => {
  const task = await completedTask(() => Promise.resolve(whole()));
  assertEquals(await task.videos.whenMirrored("abc.mp4"), false);
  assertEquals(await task.videos.whenMirrored(`${crypto.randomUUID()}-0.mp4`), false);
  assertEquals(await task.videos.whenMirrored(`${task.id}-7.mp4`), false);
  const waiting = task.videos.whenMirrored(`${task.id}-0.mp4`);
  await task.mirror();
  task.clock.advance(200);
  assertEquals([await waiting, DONE.status], [true, "completed"]);
});

Deno.test("what a vendor makes beside the video is kept in the task's record, one of each that can be fetched", async () => {
  const stage = await openStage();
  const extras = [
    { type: "last_frame", url: "https://vendor.example/last.png" },
    { type: "thumbnail", url: "http://10.0.0.1/thumbnail.webp" },
  ] as const;
  stage.vendor.progress = () => ({ ...DONE, extras }) as typeof DONE;
  const id = await stage.create();
  await stage.runDue();
  stage.clock.advance(20_000);
  await stage.runDue();
  const task = (await readTask(stage.store, id))!.value;
  assertEquals([task.extras, task.extraMirrors], [[extras[0]], [`${id}-extra-0.png`]]);
});
