import { assertEquals } from "@std/assert";
import { UpstreamFailure } from "../../src/vendors/upstreams/call/failure.ts";
import type { VideoProgress } from "../../src/vendors/upstreams/contract/video_upstream.ts";
import { COST, DONE, openStage, type Stage } from "./stage.ts";

const PENDING: VideoProgress = { status: "pending", isRunning: true };
const MINUTE = 60;
const LOST = {
  code: "upstream_error",
  message: "The provider no longer has the job, as it has reported for ten minutes. Create the video again.",
};

const refusal = (status: number, kind: UpstreamFailure["kind"] = "invalid") =>
  new UpstreamFailure("vendor", kind, "no such task", { status, accepted: "no" });

/** Creates a task whose vendor answers each poll as that function says, and polls it once. */
async function taskOf(stage: Stage, answer: (poll: number) => VideoProgress | UpstreamFailure): Promise<string> {
  let polls = 0;
  stage.vendor.progress = () => {
    const progress = answer(++polls);
    if (progress instanceof UpstreamFailure) throw progress;
    return progress;
  };
  const id = await stage.create();
  await stage.runDue(["video_submit"]);
  await pass(stage, 12);
  return id;
}

/** Polls due tasks, second by second. */
async function pass(stage: Stage, seconds: number, poll = () => stage.runDue(["video_poll"])): Promise<void> {
  for (let second = 0; second < seconds; second++) {
    stage.clock.advance(1_000);
    await poll();
  }
}

const balanceOf = ({ store }: Stage) => store.balance("demo");

for (const status of [404, 410]) {
  Deno.test(`a task whose vendor answers each poll with ${status} fails after ten minutes, once, and is refunded`, async () => {
    const stage = await openStage();
    const before = await balanceOf(stage);
    const id = await taskOf(stage, () => refusal(status));
    await pass(stage, 9 * MINUTE);
    assertEquals((await stage.read(id)).status, "pending");
    await pass(stage, 2 * MINUTE);
    const { status: ended, error } = await stage.read(id);
    assertEquals([ended, error], ["failed", LOST]);
    assertEquals(stage.events, [{ taskId: id, status: "failed" }]);
    assertEquals(await balanceOf(stage), before);
    await pass(stage, MINUTE);
    assertEquals(stage.events.length, 1);
  });
}

Deno.test("a job that a vendor has only after some polls goes on", async () => {
  const stage = await openStage();
  const id = await taskOf(stage, (poll) => poll < 8 ? refusal(404) : poll < 60 ? PENDING : DONE);
  await pass(stage, 15 * MINUTE);
  assertEquals((await stage.read(id)).status, "pending");
  await pass(stage, 25 * MINUTE);
  assertEquals((await stage.read(id)).status, "completed");
});

Deno.test("polls that did not find a job count no longer once one has found it", async () => {
  const stage = await openStage();
  const id = await taskOf(stage, (poll) => poll % 10 === 0 ? PENDING : refusal(404));
  await pass(stage, 45 * MINUTE);
  assertEquals((await stage.read(id)).status, "pending");
});

for (
  const [what, failure] of [
    ["the gateway's key", refusal(401, "auth")],
    ["the key, with status 404", refusal(404, "auth")],
    ["the poll as invalid", refusal(400)],
    ["the poll for its rate", refusal(429, "rate_limited")],
    ["the poll with 503", refusal(503, "unavailable")],
  ] as const
) {
  Deno.test(`a vendor that refuses ${what} may still have the job: only the deadline ends it`, async () => {
    const stage = await openStage();
    const id = await taskOf(stage, () => failure);
    await pass(stage, 30 * MINUTE);
    assertEquals((await stage.read(id)).status, "pending");
  });
}

Deno.test("failures in between neither end the time without the job nor count as polls without it", async () => {
  const stage = await openStage();
  const id = await taskOf(stage, (poll) => poll % 2 === 0 ? refusal(503, "unavailable") : refusal(404));
  await pass(stage, 12 * MINUTE);
  assertEquals((await stage.read(id)).status, "failed");
  const other = await taskOf(stage, (poll) => poll <= 4 ? refusal(404) : refusal(503, "unavailable"));
  await pass(stage, 30 * MINUTE);
  assertEquals((await stage.read(other)).status, "pending");
});

Deno.test("a task whose job is lost ends once when a gateway is killed in between", async () => {
  const stage = await openStage();
  const before = await balanceOf(stage);
  const id = await taskOf(stage, () => refusal(404));
  assertEquals(await balanceOf(stage), { available: before.available - COST, held: COST });
  await pass(stage, 9 * MINUTE);
  const next = stage.reopen(stage.store); // the first one is not drained, and polls no more
  stage.clock.advance(600_000); // its leases end
  const poll = () => next.poller.pollDue();
  await pass(stage, 9 * MINUTE, poll);
  assertEquals((await stage.read(id)).status, "pending", "the time counts anew");
  await pass(stage, 2 * MINUTE, poll);
  assertEquals((await stage.read(id)).error, LOST);
  assertEquals(stage.events, [{ taskId: id, status: "failed" }]);
  assertEquals(await balanceOf(stage), before);
});

Deno.test("a job that its vendor's list lacks, too, is lost", async () => {
  const stage = await openStage();
  Object.assign(stage.vendor, { pollMany: { limit: 100, poll: () => Promise.resolve(new Map()) } });
  const id = await taskOf(stage, () => refusal(404));
  await pass(stage, 11 * MINUTE);
  assertEquals((await stage.read(id)).error, LOST);
});

Deno.test("a list that is refused with 404 tells nothing of its jobs", async () => {
  const stage = await openStage();
  Object.assign(stage.vendor, { pollMany: { limit: 100, poll: () => Promise.reject(refusal(404)) } });
  const id = await taskOf(stage, () => PENDING);
  await pass(stage, 15 * MINUTE);
  assertEquals((await stage.read(id)).status, "pending");
});
