import { assert, assertEquals } from "@std/assert";
import { changedJobStore } from "../../src/platform/store/changed_store.ts";
import type { JobStore } from "../../src/platform/store/store.ts";
import type { VideoOrder, VideoProgress } from "../../src/vendors/upstreams/contract/video_upstream.ts";
import { isCallbackToken, vendorCallbackUrl } from "../../src/services/videos/polling/vendor_callback.ts";
import { DONE, openStage, type Stage } from "./stage.ts";

const tokenIn = (url: string | null) => new URL(url!).searchParams.get("token")!;

/** Creates a submitted task; returns its callback address. */
async function submitted(stage: Stage): Promise<{ readonly id: string; readonly url: string | null }> {
  let order: VideoOrder | null = null;
  stage.vendor.before = (given) => void (order = given);
  const id = await stage.create();
  await stage.runDue(["video_submit"]);
  return { id, url: order!.callbackUrl };
}

Deno.test("a vendor gets a callback address with a token of the task if it can reach the gateway", async () => {
  const stage = await openStage();
  const [one, other] = [await submitted(stage), await submitted(stage)];
  assert(one.url!.startsWith(`https://gateway.example/v1/video-callbacks/${one.id}?token=`), `${one.url}`);
  assert(tokenIn(one.url) !== tokenIn(other.url));
  for (const base of ["http://gateway.example", "https://127.0.0.1", "https://localhost:8787"]) {
    assertEquals(vendorCallbackUrl({ ...stage.parts, baseUrl: () => base }, one.id), null, base);
  }
  const settings = { ...stage.parts.settings, vendorCallbacks: false };
  assertEquals(vendorCallbackUrl({ ...stage.parts, settings }, one.id), null);
});

Deno.test("a token is valid only for its task, with any valid key", async () => {
  const stage = await openStage();
  const [one, other] = [await submitted(stage), await submitted(stage)];
  const { signingKeys } = stage.parts;
  const token = tokenIn(one.url);
  const newer = { id: "two", secret: new Uint8Array(32).fill(1) };
  assertEquals(isCallbackToken(one.id, token, signingKeys), true);
  assertEquals(isCallbackToken(one.id, token, [newer, ...signingKeys]), true);
  assertEquals(isCallbackToken(one.id, token, [newer]), false);
  for (const wrong of [tokenIn(other.url), "", token.slice(1), token + "A", token.replace(/.$/, "_")]) {
    assertEquals(stage.videos.acceptCallback(one.id, wrong), false, wrong);
  }
});

Deno.test("a callback causes an immediate poll of its task, whatever its content", async () => {
  const stage = await openStage();
  const { id, url } = await submitted(stage);
  stage.vendor.progress = () => DONE;
  await stage.runDue(["video_poll"]); // the poller has it and would wait
  assertEquals((await stage.read(id)).status, "pending");
  assertEquals(stage.videos.acceptCallback(id, tokenIn(url)), true);
  await stage.runDue(["video_poll"]);
  assertEquals((await stage.read(id)).status, "completed");
  assertEquals(stage.videos.acceptCallback(id, tokenIn(url)), true, "also when it comes once more");
});

Deno.test("a callback that another process receives is announced to the one that polls the task", async () => {
  const stage = await openStage();
  const { id, url } = await submitted(stage);
  stage.vendor.progress = () => DONE;
  const listeners: ((kind: string) => void)[] = [];
  const announced: string[] = [];
  const sharing = (own: Partial<JobStore>) => changedJobStore(stage.store, { jobLeaseMs: 10_000, ...own });
  const polling = stage.reopen(sharing({
    onWake(listener) {
      listeners.push(listener);
      return () => {};
    },
  }));
  const receiving = stage.reopen(sharing({ announce: (kind) => void announced.push(kind) }));
  const runner = polling.poller.start();
  await polling.poller.pollDue();
  assertEquals((await stage.read(id)).status, "pending");
  assertEquals(receiving.acceptCallback(id, tokenIn(url)), true);
  assertEquals(announced.length, 1);
  for (const kind of announced) listeners.forEach((listener) => listener(kind));
  await polling.poller.pollDue();
  assertEquals((await stage.read(id)).status, "completed");
  await runner.drain(0);
});

Deno.test("callbacks with a known token cause at most one poll every five seconds and twenty in total", async () => {
  const stage = await openStage();
  const { id, url } = await submitted(stage);
  let polls = 0;
  const progress: VideoProgress = { status: "pending", isRunning: true };
  stage.vendor.progress = () => {
    polls++;
    return progress;
  };
  await stage.runDue(["video_poll"]);
  stage.clock.advance(40 * 60_000); // by now it is polled every thirty seconds
  await stage.runDue(["video_poll"]);
  polls = 0;
  for (let tenth = 0; tenth < 10 * 60; tenth++) {
    stage.clock.advance(100);
    for (let call = 0; call < 20; call++) stage.videos.acceptCallback(id, tokenIn(url));
    await stage.runDue(["video_poll"]);
  }
  assert(polls >= 11 && polls <= 13, `${polls} polls in a minute`);
  for (let second = 0; second < 10 * 60; second++) {
    stage.clock.advance(1_000);
    stage.videos.acceptCallback(id, tokenIn(url));
    await stage.runDue(["video_poll"]);
  }
  assert(polls <= 20 + 22, `${polls} polls in eleven minutes, of which callbacks led to twenty`);
});
