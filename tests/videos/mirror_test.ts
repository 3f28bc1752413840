import { assertEquals } from "@std/assert";
import { SAMPLE_VIDEO } from "../../src/sandbox/families/sample_video.ts";
import { createJobRunner } from "../../src/platform/store/job_runner.ts";
import { readTask } from "../../src/services/videos/tasks/records.ts";
import { openTaskAdmin } from "../../src/services/videos/upkeep/task_admin.ts";
import { itemAt } from "../support/items.ts";
import { until } from "../support/manual_clock.ts";
import { CALLER, DONE, failure, openStage } from "./stage.ts";
import { FILES_MS, onResultStage, type ResultStage } from "./result_stage.ts";

const DAY_MS = 86_400_000;
const WITH_KEY = [{ url: "https://vendor.example/files/1", needsCredential: true }];

async function* whole(): AsyncGenerator<Uint8Array<ArrayBuffer>> {
  for (let at = 0; at < SAMPLE_VIDEO.length; at += 500) yield await Promise.resolve(SAMPLE_VIDEO.slice(at, at + 500));
}

async function* cut(): AsyncGenerator<Uint8Array<ArrayBuffer>> {
  yield await Promise.resolve(SAMPLE_VIDEO.slice(0, 500));
  throw failure("unknown", "broken");
}

const read = ({ videos }: ResultStage, id: string) => videos.read(CALLER.keyId, id);

onResultStage(
  "a result that needs the vendor's key is copied through the adapter, retained and then removed",
  async (on) => {
    const { stage, names } = on;
    stage.vendor.open = () => Promise.resolve({ bytes: whole() });
    const id = await on.complete(WITH_KEY);
    assertEquals((await read(on, id)).mirror_urls.length, 1);
    await on.run("video_mirror");
    assertEquals(names(), [`${id}-0.mp4`]);
    stage.clock.advance(FILES_MS - 1);
    assertEquals([await on.sweepFiles(), names().length], [false, 1]);
    stage.clock.advance(1);
    assertEquals([await on.sweepFiles(), names(), (await read(on, id)).mirror_urls], [false, [], []]);
    assertEquals((await read(on, id)).unsigned_urls, [itemAt(WITH_KEY, 0).url]);
  },
);

onResultStage(
  "an interrupted copy leaves no file and is retried while the vendor retains the result",
  async (on) => {
    const { stage, names } = on;
    let attempts = 0;
    stage.vendor.open = () => Promise.resolve({ bytes: ++attempts < 40 ? cut() : whole() });
    const id = await on.complete(WITH_KEY);
    while (attempts < 39) {
      assertEquals([await on.run("video_mirror"), names()], [1, []]);
      stage.clock.advance(600_000);
    }
    await on.run("video_mirror");
    assertEquals([attempts, names(), await on.run("video_mirror")], [40, [`${id}-0.mp4`], 0]);
  },
);

for (const lifeMs of [undefined, 3_600_000]) {
  onResultStage(
    `a copy is abandoned when the vendor no longer retains the result: after ${lifeMs ?? "a day"}`,
    async (on) => {
      const { stage } = on;
      if (lifeMs !== undefined) stage.vendor.resultLifetimeMs = lifeMs;
      stage.vendor.open = () => Promise.resolve({ bytes: cut() });
      const id = await on.complete(WITH_KEY);
      stage.clock.advance((lifeMs ?? DAY_MS) - 1);
      await on.run("video_mirror");
      assertEquals((await read(on, id)).mirror_urls.length, 1);
      stage.clock.advance(1);
      await on.run("video_mirror");
      const { status, mirror_urls, unsigned_urls } = await read(on, id);
      assertEquals([await on.run("video_mirror"), status, mirror_urls, unsigned_urls.length], [0, "completed", [], 1]);
    },
  );
}

onResultStage("of two results, the one that can be copied keeps its copy after the other is abandoned", async (on) => {
  on.host.answer = (request) => new Response(SAMPLE_VIDEO, { status: request.url.endsWith("b.mp4") ? 404 : 200 });
  const results = ["a", "b"].map((name) => ({ url: `${on.host.url}/${name}.mp4`, needsCredential: false }));
  const id = await on.complete(results);
  await on.run("video_mirror");
  on.stage.clock.advance(DAY_MS);
  await on.run("video_mirror");
  const { mirrors, mirroring } = (await readTask(on.stage.store, id))!.value;
  assertEquals([mirrors, mirroring, on.host.seen.filter(({ path }) => path === "/a.mp4").length], [
    [`${id}-0.mp4`],
    false,
    1,
  ]);
});

onResultStage("a copy is made from a new address if the vendor issues one", async (on) => {
  const { stage, host } = on;
  stage.vendor.renewsUrls = true;
  host.answer = (request) => new Response(SAMPLE_VIDEO, { status: request.url.endsWith("new.mp4") ? 200 : 403 });
  const id = await on.complete([{ url: `${host.url}/old.mp4`, needsCredential: false }]);
  const results = [{ url: `${host.url}/new.mp4`, needsCredential: false }];
  stage.vendor.progress = () => ({ ...DONE, results }) as typeof DONE;
  await on.run("video_mirror");
  assertEquals(on.names(), []);
  stage.clock.advance(DAY_MS * 2);
  await on.run("video_mirror");
  assertEquals([on.names(), (await read(on, id)).unsigned_urls], [[`${id}-0.mp4`], [itemAt(results, 0).url]]);
});

/** What a vendor's host answers in place of a result. */
const NO_MEDIA = [
  ["text/html", "<html>Link expired</html>"],
  ["application/json", '{"error":"expired"}'],
  ["application/xml", '<?xml version="1.0"?><Error><Code>AccessDenied</Code></Error>'],
  ["video/mp4", "<!DOCTYPE html><html>Sign in</html>"],
  ["video/mp4", "Not found"],
] as const;

onResultStage("a page, JSON or text in place of a result is not kept, and the copy is tried again", async (on) => {
  const { stage, host } = on;
  const id = await on.complete();
  for (const [type, text] of NO_MEDIA) {
    host.answer = () => new Response(text, { headers: { "content-type": type } });
    await on.run("video_mirror");
    assertEquals([on.names(), (await readTask(stage.store, id))?.value.mirroring], [[], true], text);
    stage.clock.advance(300_000);
  }
  host.answer = () => new Response(SAMPLE_VIDEO, { headers: { "content-type": "text/html" } });
  await on.run("video_mirror");
  assertEquals([on.names(), (await readTask(stage.store, id))?.value.mirroring], [[`${id}-0.mp4`], false]);
});

onResultStage("a copy that was a page is made from a new address if the vendor issues one", async (on) => {
  const { stage, host } = on;
  stage.vendor.renewsUrls = true;
  host.answer = (request) => new Response(request.url.endsWith("new.mp4") ? SAMPLE_VIDEO : "<html>expired</html>");
  const id = await on.complete([{ url: `${host.url}/old.mp4`, needsCredential: false }]);
  const results = [{ url: `${host.url}/new.mp4`, needsCredential: false }];
  stage.vendor.progress = () => ({ ...DONE, results }) as typeof DONE;
  await on.run("video_mirror");
  assertEquals(on.names(), []);
  stage.clock.advance(60_000);
  await on.run("video_mirror");
  assertEquals(on.names(), [`${id}-0.mp4`]);
});

onResultStage("a file of an unknown kind is kept", async (on) => {
  const unknown = new Uint8Array(5_000).fill(3);
  on.host.answer = () => new Response(unknown, { headers: { "content-type": "video/x-new" } });
  const id = await on.complete();
  await on.run("video_mirror");
  assertEquals(on.names(), [`${id}-0.mp4`]);
});

onResultStage("bytes inside a vendor's response are copied through the adapter", async (on) => {
  on.stage.vendor.open = ({ url }, job) =>
    Promise.resolve({ bytes: url === null && job.id.startsWith("job-") ? whole() : cut() });
  const id = await on.complete([{ url: null, needsCredential: true }]);
  await on.run("video_mirror");
  assertEquals([on.names(), (await read(on, id)).unsigned_urls], [[`${id}-0.mp4`], []]);
});

onResultStage(
  "a result redirected to a public address is copied from there without the vendor's key",
  async (on) => {
    on.stage.vendor.open = () => Promise.resolve({ movedTo: `${on.host.url}/moved.mp4` });
    const id = await on.complete(WITH_KEY);
    await on.run("video_mirror");
    assertEquals([on.names(), on.host.seen[0]?.headers.get("authorization")], [[`${id}-0.mp4`], null]);
  },
);

onResultStage("forty slow copies do not delay a small one of the same or another account", async (on) => {
  const { stage, videos } = on;
  const slow = Promise.withResolvers<never>();
  slow.promise.catch(() => {});
  let opened = 0;
  stage.vendor.open = () => {
    opened++;
    return slow.promise;
  };
  for (let task = 0; task < 40; task++) await on.complete(WITH_KEY);
  const runner = createJobRunner({
    store: stage.store,
    clock: stage.clock,
    log: on.parts.log,
    handlers: { video_mirror: videos.handlers.video_mirror },
    concurrency: videos.concurrency,
  });
  await until(() => opened >= 8);
  const id = await on.complete();
  // Slow copies count as long after half a minute; others start in their place.
  for (let step = 0; step < 40; step++) {
    stage.clock.advance(500);
    await new Promise((resolve) => setTimeout(resolve, 2));
  }
  await until(() => on.names().includes(`${id}-0.mp4`));
  slow.reject(failure("unknown", "broken"));
  await runner.drain(0);
});

onResultStage("a copy without data for half a minute is aborted and retried", async (on) => {
  const { stage, host } = on;
  host.answer = () => new Response(new ReadableStream({ pull: () => new Promise(() => {}) }));
  await on.complete();
  const running = on.run("video_mirror");
  await until(() => host.seen.length === 1);
  for (let step = 0; step < 70; step++) {
    stage.clock.advance(1_000);
    await new Promise((resolve) => setTimeout(resolve, 1));
  }
  await running;
  host.answer = () => new Response(SAMPLE_VIDEO);
  stage.clock.advance(60_000);
  await on.run("video_mirror");
  assertEquals(on.names().length, 1);
});

onResultStage(
  "recopying replaces everything, and existing copies stay until their replacement is complete",
  async (on) => {
    const { stage, host } = on;
    const id = await on.complete();
    await on.run("video_mirror");
    host.answer = () => new Response(SAMPLE_VIDEO.slice(0, 1_000));
    const admin = openTaskAdmin(stage.store);
    assertEquals((await admin.mirror(id)).task.mirroring, true);
    assertEquals((await on.parts.files.find(`${id}-0.mp4`))!.bytes, SAMPLE_VIDEO.length);
    // A second request before the first copy started: both are one.
    await admin.mirror(id);
    while (await on.run("video_mirror") > 0);
    assertEquals([(await on.parts.files.find(`${id}-0.mp4`))!.bytes, host.seen.length], [1_000, 2]);
    assertEquals((await readTask(stage.store, id))!.value.mirroring, false);
  },
);

onResultStage("an empty response during recopying does not replace the existing copy", async (on) => {
  const id = await on.complete();
  await on.run("video_mirror");
  on.host.answer = () => new Response("", { headers: { "content-type": "video/mp4" } });
  await openTaskAdmin(on.stage.store).mirror(id);
  await on.run("video_mirror");
  assertEquals((await on.parts.files.find(`${id}-0.mp4`))?.bytes, SAMPLE_VIDEO.length);
});

onResultStage("removed or abandoned copies are made again by an operator", async (on) => {
  const { stage, host } = on;
  const id = await on.complete();
  await on.run("video_mirror");
  stage.clock.advance(FILES_MS);
  await on.sweepFiles();
  assertEquals((await read(on, id)).mirror_urls, []);
  await openTaskAdmin(stage.store).mirror(id);
  await on.run("video_mirror");
  assertEquals([on.names(), (await read(on, id)).mirror_urls.length], [[`${id}-0.mp4`], 1]);
  stage.clock.advance(FILES_MS - 1);
  await on.sweepFiles();
  assertEquals(on.names().length, 1);
  // The vendor has no results any more: the existing copy stays.
  host.answer = () => new Response(null, { status: 404 });
  await openTaskAdmin(stage.store).mirror(id);
  await on.run("video_mirror");
  assertEquals([on.names().length, (await read(on, id)).mirror_urls.length], [1, 1]);
});

onResultStage("a copy above the quota is rejected and made once there is room", async (on) => {
  on.quota.add(SAMPLE_VIDEO.length);
  const id = await on.complete();
  await on.run("video_mirror");
  assertEquals([on.names(), await on.stream(`${id}-0.mp4`)], [[], SAMPLE_VIDEO]);
  on.quota.subtract(SAMPLE_VIDEO.length);
  on.stage.clock.advance(600_000);
  await on.run("video_mirror");
  assertEquals(on.names(), [`${id}-0.mp4`]);
}, { quotaBytes: SAMPLE_VIDEO.length + 100 });

onResultStage("a result at a blocked address is abandoned without a retry", async (on) => {
  on.host.answer = () => new Response(null, { status: 302, headers: { location: "http://10.0.0.1/video.mp4" } });
  const id = await on.complete();
  await on.run("video_mirror");
  on.stage.clock.advance(DAY_MS - 1);
  assertEquals(await on.run("video_mirror"), 0);
  on.stage.clock.advance(1);
  assertEquals([await on.run("video_mirror"), (await read(on, id)).mirror_urls], [1, []]);
});

Deno.test("the extras of a video are stored in the task's record, one of each that can be fetched", async () => {
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
