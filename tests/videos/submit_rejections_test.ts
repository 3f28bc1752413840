import { assertEquals } from "@std/assert";
import { GatewayError } from "../../src/platform/lib/basics/gateway_error.ts";
import { readMoney } from "../../src/platform/lib/basics/money.ts";
import { createCatalog } from "../../src/vendors/catalog/catalog.ts";
import { readModel } from "../../src/vendors/catalog/model.ts";
import { UpstreamFailure } from "../../src/vendors/upstreams/call/failure.ts";
import { createVideos } from "../../src/services/videos/videos.ts";
import { createWith, DEADLINE_MS, failure, LIMITS, openStage, runDue, type Stage, StageVendor } from "./stage.ts";

/** The header of an image of 256 by 256 pixels. */
const IMAGE = "data:image/png;base64,iVBORw0KGgoAAAANSUhEUgAAAQAAAAEACAIAAADTED8x";
const WHOLE = { available: readMoney("100"), held: 0n };

const ORDERS = [["vendor", "second"], ["second", "vendor"]] as const;

/** Runs due jobs, second by second, until the task has ended. */
async function untilEnded(stage: Stage, id: string): Promise<{ code: string | undefined; afterMs: number }> {
  const from = stage.clock.now();
  while ((await stage.read(id)).status === "pending" && stage.clock.now() < from + DEADLINE_MS) {
    while (await stage.runDue() > 0);
    stage.clock.advance(1_000);
  }
  return { code: (await stage.read(id)).error?.code, afterMs: stage.clock.now() - from };
}

for (const [busy, other] of ORDERS) {
  for (const kind of ["auth", "forbidden"] as const) {
    Deno.test(`a task waits for a busy provider if the other responds ${kind}, ${busy} busy`, async () => {
      const stage = await openStage();
      stage[busy].before = () => Promise.reject(failure("no", "rate_limited"));
      stage[other].before = () => Promise.reject(failure("no", kind));
      const id = await stage.create();
      await stage.runDue();
      assertEquals((await stage.read(id)).status, "pending");
      stage[busy].before = () => {};
      stage.clock.advance(10_000);
      await stage.runDue();
      assertEquals(stage[busy].accepted.get(id)?.length, 1);
    });
  }

  Deno.test(`a task that waited without success fails with the busy provider's error, ${busy} busy`, async () => {
    const stage = await openStage();
    stage[busy].before = () => Promise.reject(failure("no", "rate_limited"));
    stage[other].before = () => Promise.reject(failure("no", "auth"));
    const { code, afterMs } = await untilEnded(stage, await stage.create());
    assertEquals([code, afterMs >= 600_000, afterMs < 700_000], ["rate_limited", true, true]);
    assertEquals(await stage.store.balance("demo"), WHOLE);
  });

  Deno.test(`a task whose providers both reject the gateway fails immediately with one code, ${busy} forbids`, async () => {
    const stage = await openStage();
    stage[busy].before = () => Promise.reject(failure("no", "forbidden"));
    stage[other].before = () => Promise.reject(failure("no", "auth"));
    const id = await stage.create();
    await stage.runDue();
    assertEquals((await stage.read(id)).error?.code, "upstream_auth_failed");
  });

  Deno.test(`a provider without the model is skipped, ${busy} lacks it`, async () => {
    const stage = await openStage();
    stage[busy].before = () =>
      Promise.reject(new UpstreamFailure(busy, "invalid", "no such model", { status: 404, accepted: "no" }));
    const id = await stage.create();
    await stage.runDue();
    assertEquals(stage[other].accepted.get(id)?.length, 1);
  });
}

Deno.test("the retry period of ten minutes starts at the first create call, not at the task's creation", async () => {
  const stage = await openStage();
  const id = await stage.create();
  stage.clock.advance(1_200_000); // no worker was available
  stage.vendor.before = stage.second.before = () => Promise.reject(failure("no", "rate_limited"));
  await stage.runDue();
  assertEquals((await stage.read(id)).status, "pending");
  stage.vendor.before = () => {};
  stage.clock.advance(10_000);
  await stage.runDue();
  assertEquals(stage.vendor.accepted.get(id)?.length, 1);
});

Deno.test("a task is retried at the earliest Retry-After of its busy providers", async () => {
  const stage = await openStage();
  const busyFor = (seconds: number) => () =>
    Promise.reject(
      new UpstreamFailure("vendor", "rate_limited", "slowly", {
        status: 429,
        accepted: "no",
        retryAfterSeconds: seconds,
      }),
    );
  stage.vendor.before = busyFor(30);
  stage.second.before = busyFor(300);
  const id = await stage.create();
  await stage.runDue();
  stage.vendor.before = () => {};
  stage.clock.advance(29_999);
  assertEquals(await stage.runDue(), 0);
  stage.clock.advance(1);
  await stage.runDue();
  assertEquals(stage.vendor.accepted.get(id)?.length, 1);
});

/** A provider with these media forms for images. */
class PictureVendor extends StageVendor {
  override readonly mediaForms: StageVendor["mediaForms"];

  constructor(image: readonly string[]) {
    super();
    this.mediaForms = { image, audio: [], video: [] } as never;
  }
}

/** Creates a task with an image, with two providers that are called in this order. */
async function createWithPicture(stage: Stage, providers: readonly [string, StageVendor][], url: string) {
  const model = readModel({
    id: "sandbox/video",
    video: { modes: ["img2video"], price_per_second: { default: "0.10" } },
    serves: providers.map(([provider], index) => ({ provider, weight: 1 - index })),
  });
  const upstreams = new Map(providers);
  const videos = createVideos({ ...stage.parts, catalog: createCatalog([model]), upstreams }, LIMITS);
  const frame = { type: "image_url", image_url: { url }, frame_type: "first_frame" };
  const id = await createWith(videos, { frame_images: [frame] });
  return { id, run: () => runDue(stage.store, videos) };
}

Deno.test("a provider that accepts no available form of a reference is skipped", async () => {
  const stage = await openStage();
  const pictureless = new PictureVendor([]);
  const providers: [string, StageVendor][] = [["pictureless", pictureless], ["vendor", stage.vendor]];
  const { id, run } = await createWithPicture(stage, providers, "https://93.184.215.14/a.png");
  await run();
  assertEquals([pictureless.accepted.size, stage.vendor.accepted.get(id)?.length], [0, 1]);
});

for (const isFirst of [true, false]) {
  Deno.test(`a provider without a form for the order does not fail a task that another can serve, ${isFirst ? "first" : "last"}`, async () => {
    const stage = await openStage();
    const bytes = new PictureVendor(["data_uri"]); // the file no longer exists
    const addresses = new PictureVendor(["url"]);
    const providers: [string, StageVendor][] = [["bytes", bytes], ["addresses", addresses]];
    if (!isFirst) providers.reverse();
    addresses.before = () => Promise.reject(failure("no", "rate_limited"));
    const { id, run } = await createWithPicture(stage, providers, IMAGE);
    await run();
    assertEquals((await stage.read(id)).status, "pending");
    addresses.before = () => {};
    stage.clock.advance(10_000);
    await run();
    assertEquals([bytes.accepted.size, addresses.accepted.get(id)?.length], [0, 1]);
  });
}

Deno.test("a task whose order fits no provider fails immediately", async () => {
  const stage = await openStage();
  const { id, run } = await createWithPicture(stage, [["bytes", new PictureVendor(["data_uri"])]], IMAGE);
  await run();
  assertEquals((await stage.read(id)).error?.code, "invalid_request");
});

Deno.test("a task that waits for a vendor's response or for its turn delays no new task", async () => {
  const stage = await openStage();
  stage.vendor.before = stage.second.before = () => Promise.reject(failure("no", "rate_limited"));
  await stage.create();
  await stage.runDue();
  stage.vendor.after = stage.vendor.before = () => Promise.reject(failure("unknown", "broken"));
  await stage.create();
  await stage.runDue();
  stage.clock.advance(60_000);
  const id = await stage.create();
  const claimed = await stage.store.claim(["video_submit"], 9, 1_000);
  assertEquals(claimed.map(({ ref }) => ref), [id]);
});

Deno.test("tasks honour a provider's Retry-After, then one of them probes for all", async () => {
  const stage = await openStage();
  let calls = 0;
  const busy = new UpstreamFailure("vendor", "rate_limited", "slowly", {
    status: 429,
    accepted: "no",
    retryAfterSeconds: 120,
  });
  stage.vendor.before = () => (calls++, Promise.reject(busy));
  for (let nth = 0; nth < 50; nth++) await stage.create({ provider: { type: "vendor" } });
  await stage.runDue();
  const before = calls;
  for (let second = 0; second < 200; second++) {
    stage.clock.advance(1_000);
    await stage.runDue();
    if (second < 119) assertEquals(calls, before);
  }
  assertEquals([before < 50, calls], [true, before + 1]);
});

Deno.test("a task that waited ten minutes for an open circuit is submitted anyway", async () => {
  const stage = await openStage();
  stage.vendor.before = stage.second.before = () => Promise.reject(failure("no", "unavailable"));
  for (let nth = 0; nth < 5; nth++) await stage.create();
  const { code, afterMs } = await untilEnded(stage, await stage.create());
  assertEquals([code, afterMs >= 600_000, afterMs < 1_300_000], ["upstream_error", true, true]);
});

Deno.test("an order without a form for its provider fails immediately, and nothing is sent", async () => {
  const stage = await openStage();
  stage.vendor.before = () => Promise.reject(new GatewayError("invalid_request", "Cannot write a header"));
  const id = await stage.create({ provider: { type: "vendor" } });
  await stage.runDue();
  assertEquals((await stage.read(id)).error?.code, "invalid_request");
  assertEquals(await stage.store.balance("demo"), WHOLE);
});

for (const [unfit, other] of ORDERS) {
  Deno.test(`a provider whose vendor does not support an order is skipped, ${unfit} does not`, async () => {
    const stage = await openStage();
    stage[unfit].before = () => Promise.reject(failure("no", "invalid"));
    const id = await stage.create();
    await stage.runDue();
    assertEquals(stage[other].accepted.get(id)?.length, 1);
  });
}
