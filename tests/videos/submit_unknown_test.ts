import { assert, assertEquals } from "@std/assert";
import { GatewayError } from "../../src/platform/lib/basics/gateway_error.ts";
import { readMoney } from "../../src/platform/lib/basics/money.ts";
import { createVideos, type Videos } from "../../src/services/videos/videos.ts";
import type { VideoSettings } from "../../src/services/videos/tasks/video_parts.ts";
import { atLeast } from "../support/items.ts";
import { CALLER, COST, createWith, DONE, failure, LIMITS, openStage, runDue, type Stage } from "./stage.ts";

const START = readMoney("100");
const WHOLE = { available: START, held: 0n };
const PAID = { available: START - COST, held: 0n };
const DOUBT_MS = 300_000;

async function cancelOf(videos: Videos, id: string): Promise<string> {
  try {
    return (await videos.cancel(CALLER.keyId, id)).status;
  } catch (error) {
    assert(error instanceof GatewayError, String(error));
    return error.details.finerCode ?? error.code;
  }
}

/** A stage whose vendor has no list and whose creates have an unknown outcome. */
async function stageInDoubt(): Promise<Stage> {
  const stage = await openStage();
  stage.vendor.find = stage.second.find = null;
  stage.vendor.after = () => Promise.reject(failure("unknown", "broken"));
  return stage;
}

/** The stage's engine with other settings. */
function engineWith(stage: Stage, settings: Partial<VideoSettings>): Videos {
  return createVideos({ ...stage.parts, settings: { ...stage.parts.settings, ...settings } }, LIMITS);
}

Deno.test("a create of unknown outcome at a vendor without a list fails after the doubt period, and its hold is released", async () => {
  const stage = await stageInDoubt();
  const id = await stage.create();
  await stage.runDue();
  stage.clock.advance(DOUBT_MS - 1);
  await stage.runDue();
  assertEquals((await stage.read(id)).status, "pending");
  assertEquals(await stage.store.balance("demo"), { available: START - COST, held: COST });
  stage.clock.advance(1);
  await stage.runDue();
  const { status, error, usage } = await stage.read(id);
  assertEquals([status, error?.code, usage.video_cost], ["failed", "outcome_unknown", "0.0000000000"]);
  assert(error?.message.includes("may have started it"), error?.message);
  assertEquals(await stage.store.balance("demo"), WHOLE);
  stage.clock.advance(DOUBT_MS);
  assertEquals([await stage.runDue(), stage.vendor.accepted.get(id)?.length, stage.second.accepted.size], [0, 1, 0]);
});

Deno.test("DELETE ends a create of unknown outcome at a vendor without a list; no provider gets it again", async () => {
  const stage = await stageInDoubt();
  const id = await stage.create();
  await stage.runDue();
  assertEquals(await cancelOf(stage.videos, id), "cancelled");
  assertEquals(await stage.store.balance("demo"), WHOLE);
  stage.clock.advance(DOUBT_MS);
  await stage.runDue();
  assertEquals([(await stage.read(id)).status, stage.vendor.accepted.get(id)?.length], ["cancelled", 1]);
  assertEquals([stage.second.accepted.size, await stage.store.claim(["video_submit", "video_submit_retry"], 9, 1)], [
    0,
    [],
  ]);
});

for (const preauthorize of [true, false]) {
  Deno.test(`unknown_creates: capture charges a create of unknown outcome, preauthorize ${preauthorize}`, async () => {
    const stage = await stageInDoubt();
    const videos = engineWith(stage, { unknownCreates: "capture", preauthorize });
    const failing = await createWith(videos);
    await runDue(stage.store, videos);
    stage.clock.advance(DOUBT_MS);
    await runDue(stage.store, videos);
    const failed = await videos.read(CALLER.keyId, failing);
    assertEquals([failed.error?.code, failed.usage.video_cost], ["outcome_unknown", "0.5000000000"]);
    assertEquals(await stage.store.balance("demo"), PAID);

    const cancelling = await createWith(videos);
    await runDue(stage.store, videos);
    assertEquals(await cancelOf(videos, cancelling), "cancelled");
    assertEquals(await stage.store.balance("demo"), { available: START - 2n * COST, held: 0n });
    const waiting = await createWith(videos);
    assertEquals(await cancelOf(videos, waiting), "cancelled");
    assertEquals(await stage.store.balance("demo"), { available: START - 2n * COST, held: 0n });
  });
}

Deno.test("a process that exits during a create at a vendor without a list leaves a task that can be cancelled or fails", async () => {
  const stage = await openStage();
  stage.vendor.find = null;
  stage.vendor.after = () => new Promise(() => {}); // the process exits here
  const [kept, dropped] = [await stage.create(), await stage.create()];
  void stage.runDue();
  await turns();
  stage.clock.advance(31_000);
  const next = stage.reopen(stage.store);
  await runDue(stage.store, next);
  assertEquals(await cancelOf(next, dropped), "cancelled");
  stage.clock.advance(DOUBT_MS);
  await runDue(stage.store, next);
  assertEquals((await stage.read(kept)).error?.code, "outcome_unknown");
  assertEquals(await stage.store.balance("demo"), WHOLE);
});

Deno.test("a task of unknown outcome of an earlier version can be cancelled after the maximum create duration", async () => {
  const stage = await openStage();
  stage.vendor.find = null;
  stage.vendor.after = () => new Promise(() => {});
  const id = await stage.create();
  void stage.runDue();
  await turns();
  stage.clock.advance(DOUBT_MS);
  const next = stage.reopen(stage.store);
  assertEquals(await cancelOf(next, id), "cancelled");
  assertEquals(await stage.store.balance("demo"), WHOLE);
});

for (const how of ["cancelled", "failed"] as const) {
  Deno.test(`a vendor's job is cancelled if its response arrives after the task was ${how}`, async () => {
    const stage = await openStage();
    const gate = Promise.withResolvers<void>();
    const stopped: string[] = [];
    stage.vendor.find = null;
    stage.vendor.after = () => gate.promise;
    stage.vendor.cancel = ({ id }) => Promise.resolve(void stopped.push(id)).then(() => "cancelled" as const);
    const id = await stage.create();
    const late = stage.runDue();
    await turns();
    stage.clock.advance(31_000);
    await stage.runDue(); // another worker without this state
    if (how === "failed") {
      stage.clock.advance(DOUBT_MS);
      await stage.runDue();
    } else assertEquals(await cancelOf(stage.videos, id), "cancelled");
    gate.resolve();
    await late;
    await stage.runDue();
    assertEquals([stopped, (await stage.read(id)).status], [[`job-${id}-0`], how]);
    assertEquals(await stage.store.balance("demo"), WHOLE);
  });
}

Deno.test("DELETE of a create of unknown outcome searches the vendor's list and cancels the job it finds", async () => {
  const stage = await openStage();
  const find = stage.vendor.find;
  stage.vendor.find = () => Promise.reject(failure("no"));
  stage.vendor.after = () => Promise.reject(failure("unknown", "broken"));
  const id = await stage.create();
  await stage.runDue();
  assertEquals(await cancelOf(stage.videos, id), "cancel_not_supported");
  const stopped: string[] = [];
  stage.vendor.cancel = (job) => Promise.resolve(void stopped.push(job.id)).then(() => "cancelled" as const);
  stage.vendor.find = find;
  assertEquals([await cancelOf(stage.videos, id), stopped], ["cancelled", [`job-${id}-0`]]);
  assertEquals(await stage.store.balance("demo"), WHOLE);
});

Deno.test("DELETE of a create missing from the vendor's list succeeds only after the maximum create duration", async () => {
  const stage = await openStage();
  stage.vendor.before = () => Promise.reject(failure("unknown", "broken"));
  const id = await stage.create();
  await stage.runDue();
  assertEquals(await cancelOf(stage.videos, id), "cancel_not_supported");
  stage.clock.advance(DOUBT_MS);
  assertEquals(await cancelOf(stage.videos, id), "cancelled");
  assertEquals(await stage.store.balance("demo"), WHOLE);
});

Deno.test("a job that DELETE found and could not cancel continues as the task's job", async () => {
  const stage = await openStage();
  stage.vendor.after = () => Promise.reject(failure("unknown", "broken"));
  const find = stage.vendor.find;
  stage.vendor.find = () => Promise.reject(failure("no"));
  const id = await stage.create();
  await stage.runDue();
  stage.vendor.find = find;
  stage.vendor.cancel = () => Promise.resolve("too_late");
  assertEquals(await cancelOf(stage.videos, id), "cancel_not_supported");
  stage.vendor.progress = () => DONE;
  stage.clock.advance(20_000);
  await stage.runDue();
  assertEquals((await stage.read(id)).status, "completed");
  assertEquals(await stage.store.balance("demo"), PAID);
});

async function turns(): Promise<void> {
  for (let turn = 0; turn < 50; turn++) await Promise.resolve();
}

Deno.test("a doubt period keeps its length if the clock moves backwards", async () => {
  const stage = await stageInDoubt();
  const id = await stage.create();
  await stage.runDue();
  stage.clock.set(stage.clock.now() - 3_600_000);
  for (let second = 0; second < 700; second++) {
    stage.clock.advance(1_000);
    await stage.runDue();
  }
  assertEquals((await stage.read(id)).error?.code, "outcome_unknown");
});

Deno.test("a create of unknown outcome is found in the vendor's list if the clock moves backwards", async () => {
  const stage = await openStage();
  let isAnswering = false;
  const createdAt = stage.clock.now() - 3_600_000; // by the vendor's clock, which is correct
  stage.vendor.after = () => Promise.reject(failure("unknown", "broken"));
  stage.vendor.find = ({ taskId }, createdAfter) => {
    if (!isAnswering) return Promise.reject(failure("no"));
    const [job] = atLeast(stage.vendor.accepted.get(taskId)!, 1);
    return Promise.resolve(createdAfter <= createdAt ? { id: job, place: null } : null);
  };
  const id = await stage.create();
  await stage.runDue();
  stage.clock.set(createdAt);
  for (let second = 0; second < 700; second++) {
    stage.clock.advance(1_000);
    isAnswering ||= second > 200;
    await stage.runDue();
  }
  assertEquals(stage.vendor.accepted.get(id)?.length, 1);
  stage.vendor.progress = () => DONE;
  stage.clock.advance(60_000);
  await stage.runDue();
  assertEquals((await stage.read(id)).status, "completed");
});

Deno.test("a job whose id is too long to store has an unknown outcome, with and without a list", async () => {
  for (const hasList of [false, true]) {
    const stage = await openStage();
    const job = { id: "j".repeat(100_000), place: null };
    let calls = 0;
    stage.vendor.create = () => {
      calls++;
      return Promise.resolve(job);
    };
    stage.vendor.find = hasList ? () => Promise.resolve(job) : null;
    const id = await stage.create();
    for (let passed = 0; passed <= 2 * DOUBT_MS; passed += 5_000) {
      await stage.runDue();
      stage.clock.advance(5_000);
    }
    const { status, error } = await stage.read(id);
    const expected = hasList ? ["pending", undefined] : ["failed", "outcome_unknown"];
    assertEquals([status, error?.code, calls], [...expected, 1]);
    assertEquals(await cancelOf(stage.videos, id), hasList ? "cancel_not_supported" : "cancel_failed");
  }
});
