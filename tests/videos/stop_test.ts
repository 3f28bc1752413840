import { assertEquals } from "@std/assert";
import { DEADLINE_MS, failure, openStage, runDue } from "./stage.ts";

Deno.test("a cancel request without a response is repeated, also by the next process", async () => {
  const stage = await openStage();
  const stopped: string[] = [];
  stage.vendor.cancel = () => Promise.reject(failure("no", "unreachable"));
  const id = await stage.create();
  await stage.runDue();
  stage.clock.advance(DEADLINE_MS);
  await stage.runDue();
  await stage.runDue(["video_stop"]);
  assertEquals((await stage.read(id)).status, "expired");
  const next = stage.reopen(stage.store);
  stage.vendor.cancel = (job) => Promise.resolve(void stopped.push(job.id)).then(() => "requested" as const);
  stage.clock.advance(60_000);
  await runDue(stage.store, next, ["video_stop"]);
  stage.clock.advance(DEADLINE_MS);
  await runDue(stage.store, next, ["video_stop"]);
  assertEquals(stopped, [`job-${id}-0`]);
});

Deno.test("a failing cancel request is made five times and then abandoned", async () => {
  const stage = await openStage();
  let calls = 0;
  stage.vendor.cancel = () => (calls++, Promise.reject(failure("no", "unavailable")));
  await stage.create();
  await stage.runDue();
  stage.clock.advance(DEADLINE_MS);
  await stage.runDue();
  while (await stage.runDue(["video_stop"]) > 0) stage.clock.advance(60_000);
  assertEquals([calls, await stage.store.claim(["video_stop"], 9, 1)], [5, []]);
});

Deno.test("a vendor that does not respond to cancel requests delays no other task", async () => {
  const stage = await openStage();
  stage.vendor.cancel = () => new Promise(() => {});
  const ids = [await stage.create(), await stage.create()];
  await stage.runDue();
  stage.clock.advance(DEADLINE_MS);
  await stage.runDue(["video_poll"]); // the task ends
  for (const id of ids) assertEquals((await stage.read(id)).status, "expired");
  void stage.runDue(["video_stop"]);
});
