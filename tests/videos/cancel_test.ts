import { assert, assertEquals, assertRejects } from "@std/assert";
import { GatewayError } from "../../src/platform/lib/basics/gateway_error.ts";
import { readMoney } from "../../src/platform/lib/basics/money.ts";
import type { CancelOutcome } from "../../src/vendors/upstreams/contract/video_upstream.ts";
import { CALLER, COST, DONE, failure, openStage, type Stage } from "./stage.ts";

const START = readMoney("100");

async function cancelOf(stage: Stage, id: string): Promise<string> {
  try {
    return (await stage.videos.cancel(CALLER.keyId, id)).status;
  } catch (error) {
    assert(error instanceof GatewayError, String(error));
    return error.details.finerCode ?? error.code;
  }
}

Deno.test("a task that no vendor has is cancelled without a vendor request and never submitted", async () => {
  const stage = await openStage();
  const id = await stage.create();
  assertEquals(await cancelOf(stage, id), "cancelled");
  await stage.runDue();
  assertEquals([stage.vendor.accepted.size, await stage.store.claim(["video_submit", "video_submit_retry"], 9, 1)], [
    0,
    [],
  ]);
  assertEquals(await stage.store.balance("demo"), { available: START, held: 0n });
});

const OUTCOMES: readonly [outcome: CancelOutcome | null, isDone: boolean, answer: string, status: string][] = [
  ["cancelled", false, "cancelled", "cancelled"],
  ["requested", false, "cancelled", "cancelled"],
  ["too_late", false, "cancel_not_supported", "pending"],
  ["too_late", true, "cancel_failed", "completed"],
  ["gone", true, "cancel_failed", "completed"],
  ["gone", false, "cancel_not_supported", "pending"],
  [null, false, "cancel_not_supported", "pending"],
];

for (const [outcome, isDone, answer, status] of OUTCOMES) {
  Deno.test(`DELETE when the vendor reports ${outcome} with its job ${isDone ? "done" : "running"}: ${answer}`, async () => {
    const stage = await openStage();
    const id = await stage.create();
    await stage.runDue();
    stage.vendor.cancel = outcome === null ? null : () => Promise.resolve(outcome);
    if (isDone) stage.vendor.progress = () => DONE;
    assertEquals([await cancelOf(stage, id), (await stage.read(id)).status], [answer, status]);
    const held = status === "pending" ? COST : 0n;
    assertEquals(await stage.store.balance("demo"), { available: START - (status === "cancelled" ? 0n : COST), held });
  });
}

Deno.test("DELETE returns the cancelled task if the polling job records the cancellation first", async () => {
  const stage = await openStage();
  const id = await stage.create();
  await stage.runDue();
  stage.vendor.cancel = async () => {
    stage.vendor.progress = () => ({ status: "cancelled" });
    stage.clock.advance(20_000);
    await stage.runDue();
    return "cancelled";
  };
  assertEquals([await cancelOf(stage, id), await cancelOf(stage, id)], ["cancelled", "cancel_failed"]);
});

for (const status of ["failed", "expired"] as const) {
  Deno.test(`DELETE cancels the task if the vendor then reports ${status}, in either order`, async () => {
    const stage = await openStage();
    const id = await stage.create();
    await stage.runDue();
    stage.vendor.cancel = async () => {
      stage.vendor.progress = () => ({ status, code: "upstream_error", message: "The request was cancelled" });
      stage.clock.advance(20_000);
      await stage.runDue();
      return "requested";
    };
    assertEquals([await cancelOf(stage, id), (await stage.read(id)).status], ["cancelled", "cancelled"]);
    assertEquals(await stage.store.balance("demo"), { available: START, held: 0n });
  });
}

Deno.test("DELETE cancels the task if polls record progress and then read a failure while it runs", async () => {
  const stage = await openStage();
  const { store } = stage;
  const [get, commit] = [store.get.bind(store), store.commit.bind(store)];
  let isBeforeRead = false;
  store.commit = async (...args) => {
    const result = await commit(...args);
    if (!result.ok) isBeforeRead = true;
    return result;
  };
  store.get = async <T>(keys: Parameters<typeof store.get>[0]) => {
    if (isBeforeRead) {
      isBeforeRead = false;
      stage.vendor.progress = () => ({ status: "failed", code: "upstream_error", message: "It was cancelled" });
      stage.clock.advance(20_000);
      await stage.runDue();
    }
    return await get<T>(keys);
  };
  const id = await stage.create();
  await stage.runDue();
  let cancels = 0;
  stage.vendor.cancel = async () => {
    if (++cancels > 1) return "gone";
    stage.vendor.progress = () => ({ status: "pending", isRunning: false, queuePosition: 7 });
    stage.clock.advance(20_000);
    await stage.runDue();
    return "requested";
  };
  assertEquals([await cancelOf(stage, id), (await stage.read(id)).status], ["cancelled", "cancelled"]);
  assertEquals(cancels, 1);
  assertEquals(await store.balance("demo"), { available: START, held: 0n });
});

Deno.test("a vendor failure unrelated to a cancel ends the task after the cancel", async () => {
  const stage = await openStage();
  const id = await stage.create();
  await stage.runDue();
  stage.vendor.cancel = async () => {
    stage.clock.advance(20_000);
    await stage.runDue();
    throw failure("unknown");
  };
  stage.vendor.progress = () => ({ status: "failed", code: "upstream_error", message: "Boom" });
  assertEquals([await cancelOf(stage, id), (await stage.read(id)).status], ["upstream_error", "pending"]);
  stage.clock.advance(2_000);
  await stage.runDue();
  assertEquals((await stage.read(id)).error?.message, "Boom");
});

Deno.test("DELETE returns the vendor's failure if the vendor does not respond, and the task continues", async () => {
  const stage = await openStage();
  const id = await stage.create();
  await stage.runDue();
  stage.vendor.cancel = () => Promise.reject(failure("unknown"));
  assertEquals([await cancelOf(stage, id), (await stage.read(id)).status], ["upstream_error", "pending"]);
});

Deno.test("DELETE during the submission waits for it for five seconds", async () => {
  const stage = await openStage();
  const gate = Promise.withResolvers<void>();
  stage.vendor.after = () => gate.promise;
  const id = await stage.create();
  const running = stage.runDue();
  for (let turn = 0; turn < 50; turn++) await Promise.resolve();
  const given = cancelOf(stage, id);
  for (let step = 0; step < 60; step++) {
    stage.clock.advance(100);
    for (let turn = 0; turn < 10; turn++) await Promise.resolve();
  }
  assertEquals(await given, "cancel_not_supported");
  const patient = cancelOf(stage, id);
  gate.resolve();
  await running;
  stage.clock.advance(100);
  assertEquals(await patient, "cancelled");
});

Deno.test("1,000 concurrent cancels and completions: one terminal state each, with matching event, charge and response", async () => {
  const stage = await openStage();
  let cancelled = 0;
  for (let round = 0; round < 1_000; round++) {
    const id = await stage.create();
    await stage.runDue();
    stage.vendor.progress = (job) => job.includes(id) ? DONE : { status: "pending", isRunning: true };
    // The vendor responds to the cancel a few turns before or after the poll.
    stage.vendor.cancel = async () => {
      for (let turn = 0; turn < round % 41; turn++) await Promise.resolve();
      return "requested";
    };
    const before = await stage.store.balance("demo");
    stage.clock.advance(20_000);
    const order = round % 2 === 0
      ? [() => stage.runDue(), () => cancelOf(stage, id)]
      : [() => cancelOf(stage, id), () => stage.runDue()];
    const answers = await Promise.all(order.map((act) => act()));
    const answer = answers.find((each) => typeof each === "string");
    const { status, usage } = await stage.read(id);
    const events = await stage.store.scan(["event", id], { limit: 9 });
    const after = await stage.store.balance("demo");
    assertEquals(events.map(({ key }) => key[2]), [status]);
    assertEquals(answer, status === "cancelled" ? "cancelled" : "cancel_failed");
    const paid = status === "completed" ? COST : 0n;
    assertEquals([after.available - before.available, after.held], [COST - paid, 0n]);
    assertEquals(usage.video_cost, status === "completed" ? "0.5000000000" : "0.0000000000");
    if (status === "cancelled") cancelled++;
    if (after.available < COST * 2n) await refill(stage);
  }
  assert(cancelled > 50 && cancelled < 950, `both ends came first at times: ${cancelled}`);
});

async function refill(stage: Stage): Promise<void> {
  const reference = `refill ${stage.clock.now()}`;
  await stage.store.commit(null, {
    changeBalances: [{ account: "demo", available: START, held: 0n }],
    ledgerEntries: [{ account: "demo", operation: "credit", reference, available: START, held: 0n }],
  });
}

Deno.test("DELETE of another credential's task is not_found", async () => {
  const stage = await openStage();
  const id = await stage.create();
  await assertRejects(() => stage.videos.cancel("key-2", id), GatewayError, "Cannot find the video task");
});
