import { assertEquals, assertRejects } from "@std/assert";
import { GatewayError } from "../../src/platform/lib/basics/gateway_error.ts";
import { silentLog } from "../../src/platform/lib/basics/log.ts";
import { UpstreamFailure } from "../../src/vendors/upstreams/call/failure.ts";
import { UNMONITORED_CREDENTIALS } from "../../src/vendors/routing/credential_monitor.ts";
import { readMoney } from "../../src/platform/lib/basics/money.ts";
import { COST, DEADLINE_MS, DONE, failure, openStage, type Stage } from "./stage.ts";

const START = readMoney("100");
const WHOLE = { available: START, held: 0n };

async function completed(stage: Stage, id: string): Promise<void> {
  stage.vendor.progress = stage.second.progress = () => DONE;
  stage.clock.advance(20_000);
  await stage.runDue();
  assertEquals((await stage.read(id)).status, "completed");
  assertEquals(await stage.store.balance("demo"), { available: START - COST, held: 0n });
}

Deno.test("a task is submitted once and polled until it ends, with its hold in place", async () => {
  const stage = await openStage();
  const id = await stage.create();
  assertEquals(await stage.store.balance("demo"), { available: START - COST, held: COST });
  await stage.runDue();
  for (let step = 0; step < 5; step++) {
    stage.clock.advance(30_000);
    assertEquals(await stage.runDue(), 1);
  }
  await completed(stage, id);
  assertEquals([stage.vendor.accepted.get(id)?.length, stage.events], [1, [{ taskId: id, status: "completed" }]]);
});

Deno.test("a create that the vendor definitely rejected goes to the next provider", async () => {
  const stage = await openStage();
  stage.vendor.before = () => Promise.reject(failure("no", "rate_limited"));
  const id = await stage.create();
  await stage.runDue();
  assertEquals([stage.vendor.accepted.size, stage.second.accepted.get(id)?.length], [0, 1]);
  await completed(stage, id);
});

Deno.test("a rejection of the order itself is final: the task fails and its hold is released", async () => {
  const stage = await openStage();
  const refusal = new UpstreamFailure("vendor", "invalid", "too long a prompt", { status: 400, accepted: "no" });
  stage.vendor.before = () => Promise.reject(refusal);
  const id = await stage.create();
  await stage.runDue();
  const { status, error } = await stage.read(id);
  assertEquals([status, error?.code, stage.second.accepted.size], ["failed", "invalid_request", 0]);
  assertEquals(await stage.store.balance("demo"), WHOLE);
});

Deno.test("unavailable vendors are retried for ten minutes, then the task fails", async () => {
  const stage = await openStage();
  stage.vendor.before = stage.second.before = () => Promise.reject(failure("no", "unreachable"));
  const id = await stage.create();
  let rounds = 0;
  while ((await stage.read(id)).status === "pending") {
    rounds += await stage.runDue();
    stage.clock.advance(1_000);
  }
  assertEquals([(await stage.read(id)).error?.code, rounds > 10], ["upstream_error", true]);
  assertEquals(await stage.store.balance("demo"), WHOLE);
});

Deno.test("a create of unknown outcome is found in the vendor's list and never repeated at any provider", async () => {
  const stage = await openStage();
  stage.vendor.after = () => Promise.reject(failure("unknown", "timeout"));
  const id = await stage.create();
  await stage.runDue();
  await completed(stage, id);
  assertEquals([stage.vendor.accepted.get(id)?.length, stage.second.accepted.size], [1, 0]);
});

Deno.test("a create that the vendor does not list after five minutes is repeated; at its deadline the task fails", async () => {
  const stage = await openStage();
  let calls = 0;
  stage.vendor.before = () => ++calls === 1 ? Promise.reject(failure("unknown", "broken")) : undefined;
  const id = await stage.create();
  await stage.runDue();
  for (let second = 0; second < 299; second++) {
    stage.clock.advance(1_000);
    await stage.runDue();
  }
  assertEquals([calls, (await stage.read(id)).status], [1, "pending"]);
  stage.clock.advance(1_000);
  await stage.runDue();
  await stage.runDue();
  assertEquals(stage.vendor.accepted.get(id)?.length, 1);
  await completed(stage, id);

  const hopeless = await openStage();
  hopeless.vendor.before = () => Promise.reject(failure("unknown", "broken"));
  const lost = await hopeless.create();
  for (let minute = 0; minute < 59; minute++) {
    while (await hopeless.runDue() > 0);
    hopeless.clock.advance(60_000);
  }
  assertEquals((await hopeless.read(lost)).status, "pending");
  for (let minute = 0; minute < 6; minute++) {
    hopeless.clock.advance(60_000);
    await hopeless.runDue();
  }
  assertEquals((await hopeless.read(lost)).error?.code, "outcome_unknown");
  assertEquals(await hopeless.store.balance("demo"), WHOLE);
});

Deno.test("after a worker is killed between the vendor's acceptance and its record, the next one finds the job", async () => {
  const stage = await openStage();
  stage.vendor.after = () => new Promise(() => {}); // the process exits here
  const id = await stage.create();
  void stage.runDue();
  await turns();
  stage.clock.advance(31_000);
  stage.vendor.after = () => {};
  await stage.runDue();
  await completed(stage, id);
  assertEquals(stage.vendor.accepted.get(id)?.length, 1);
});

Deno.test("a worker that lost its lease during the vendor's response still records the job", async () => {
  const stage = await openStage();
  const gate = Promise.withResolvers<void>();
  stage.vendor.find = null;
  stage.vendor.after = () => gate.promise;
  const id = await stage.create();
  const late = stage.runDue();
  await turns();
  stage.clock.advance(31_000);
  await stage.runDue(); // another worker without this state waits for the deadline
  gate.resolve();
  await late;
  await completed(stage, id);
});

Deno.test("a deadline ends a task as expired, and the vendor's job is cancelled", async () => {
  const stage = await openStage();
  const cancelled: string[] = [];
  stage.vendor.cancel = (job) => Promise.resolve(void cancelled.push(job.id)).then(() => "cancelled" as const);
  const id = await stage.create();
  await stage.runDue();
  stage.clock.advance(DEADLINE_MS);
  await stage.runDue();
  await stage.runDue();
  assertEquals([(await stage.read(id)).status, cancelled.length], ["expired", 1]);
  assertEquals(await stage.store.balance("demo"), WHOLE);
});

Deno.test("polling failures never fail a task, and a vendor's Retry-After is honoured", async () => {
  const stage = await openStage();
  const id = await stage.create();
  await stage.runDue();
  let searches = 0;
  stage.vendor.poll = () => {
    searches++;
    return Promise.reject(
      Object.assign(failure("no", "rate_limited"), { facts: { status: 429, accepted: "no", retryAfterSeconds: 120 } }),
    );
  };
  stage.clock.advance(10_000);
  await stage.runDue();
  stage.clock.advance(119_000);
  assertEquals([await stage.runDue(), searches], [0, 1]);
  stage.clock.advance(1_000);
  assertEquals([await stage.runDue(), searches, (await stage.read(id)).status], [1, 2, "pending"]);
});

Deno.test("a price change does not affect a running task: it costs the price at its creation", async () => {
  const stage = await openStage();
  const id = await stage.create();
  await stage.runDue();
  const [entry] = await stage.store.get<{ price: { perSecond: bigint } }>([["video", "task", id]]);
  assertEquals(entry?.value.price.perSecond, 10n ** 17n);
  await completed(stage, id);
});

async function turns(): Promise<void> {
  for (let turn = 0; turn < 50; turn++) await Promise.resolve();
}

/** A stage whose vendors reject the credentials of these providers. */
async function stageRejecting(rejected: ReadonlySet<string>): Promise<Stage> {
  return await openStage(silentLog, { ...UNMONITORED_CREDENTIALS, isRejected: (name) => rejected.has(name) });
}

Deno.test("a task is not offered to a misconfigured provider while another one works", async () => {
  const stage = await stageRejecting(new Set(["vendor"]));
  const id = await stage.create();
  await stage.runDue();
  assertEquals([stage.vendor.accepted.size, stage.second.accepted.get(id)?.length], [0, 1]);
  await completed(stage, id);
});

Deno.test("a create is rejected immediately if all providers, or the requested one, are misconfigured", async () => {
  const all = await stageRejecting(new Set(["vendor", "second"]));
  const one = await stageRejecting(new Set(["second"]));
  for (const [stage, body] of [[all, {}], [one, { provider: { type: "second" } }]] as const) {
    const error = await assertRejects(() => stage.create(body), GatewayError);
    assertEquals([error.code, error.status], ["upstream_auth_failed", 401]);
    assertEquals(await stage.store.balance("demo"), WHOLE);
  }
});

Deno.test("a task whose providers become misconfigured before its submission fails without a vendor call", async () => {
  const rejected = new Set<string>();
  const stage = await stageRejecting(rejected);
  const id = await stage.create();
  rejected.add("vendor").add("second");
  await stage.runDue();
  const { status, error } = await stage.read(id);
  assertEquals([status, error?.code], ["failed", "upstream_auth_failed"]);
  assertEquals([stage.vendor.accepted.size, stage.second.accepted.size], [0, 0]);
  assertEquals(await stage.store.balance("demo"), WHOLE);
});

Deno.test("a task that a vendor forbids for the operator's account fails immediately with upstream_error", async () => {
  const stage = await openStage();
  stage.vendor.before = stage.second.before = () => Promise.reject(failure("no", "forbidden"));
  const id = await stage.create();
  await stage.runDue();
  const { status, error } = await stage.read(id);
  assertEquals([status, error?.code], ["failed", "upstream_error"]);
  assertEquals(await stage.store.balance("demo"), WHOLE);
});
