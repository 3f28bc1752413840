import { assert, assertEquals } from "@std/assert";
import { readWebhookSecrets, rotateWebhookSecret } from "../../src/money/billing/accounts/webhook_secret.ts";
import { EgressError } from "../../src/platform/net/egress_error.ts";
import type { PostResponse } from "../../src/platform/net/pinned_post.ts";
import { Webhook } from "standardwebhooks";
import { itemAt, valueAt } from "../support/items.ts";
import { end, endedTask, openWebhookStage, settled } from "./support.ts";
import { HOST_CLOCKS } from "../support/host_clock.ts";
import { until } from "../support/manual_clock.ts";

const answered = (status: number, retryAfter: string | null = null): PostResponse => ({
  status,
  bytes: 0,
  header: (name) => name === "retry-after" ? retryAfter : null,
});

for (const [name, aheadMs] of Object.entries(HOST_CLOCKS)) {
  Deno.test(`by ${name}: a delivery is attempted at 0, 5, 15, 35, 75, 155, 315, 635, 1235, 1835 and 2435 s, then stops`, async () => {
    const times: number[] = [];
    const bodies = new Set<string>();
    const keys = new Set<string>();
    const { clock, store, webhooks } = await openWebhookStage(
      (_url, { headers, body }) => {
        times.push(clock.now());
        bodies.add(new TextDecoder().decode(body));
        keys.add(valueAt(headers, "x-service-idempotency-key"));
        return Promise.resolve(answered(500));
      },
      undefined,
      aheadMs,
    );
    const begin = clock.now();
    const ended = endedTask({ endedAt: begin });
    await end({ store, webhooks }, ended);
    const runner = webhooks.startJobs();
    for (let n = 1; n <= 11; n++) {
      await until(() => times.length === n);
      await settled();
      const { nextAttemptAt } = (await webhooks.deliveries.read(ended.taskId))!.delivery;
      if (nextAttemptAt === null) break;
      clock.advance(nextAttemptAt - clock.now() - 1);
      await settled();
      assertEquals(times.length, n, "not a millisecond early");
      clock.advance(1);
    }
    assertEquals(times.map((at) => (at - begin) / 1_000), [0, 5, 15, 35, 75, 155, 315, 635, 1235, 1835, 2435]);
    clock.advance(86_400_000);
    await settled();
    assertEquals([times.length, bodies.size, [...keys]], [11, 1, [`${ended.taskId}-completed`]]);
    const { delivery, attempts } = (await webhooks.deliveries.read(ended.taskId))!;
    assertEquals([delivery.state, delivery.attempts, delivery.nextAttemptAt], ["exhausted", 11, null]);
    const tried = attempts.map(({ number, status, failure }) => `${number} ${status} ${failure}`);
    assertEquals(tried, times.map((_, index) => `${index + 1} 500 status`));
    await runner.drain(0);
  });
}

Deno.test("a retry waits no longer if the clock moves back by an hour", async () => {
  const answers = [answered(500), answered(204)];
  let attempts = 0;
  const { clock, store, webhooks } = await openWebhookStage(() => {
    attempts++;
    return Promise.resolve(answers.shift()!);
  });
  await end({ store, webhooks }, endedTask({ endedAt: clock.now() }));
  const runner = webhooks.startJobs();
  await until(() => attempts === 1 && runner.running === 0);
  clock.set(clock.now() - 3_600_000);
  clock.advance(4_999);
  await settled();
  assertEquals(attempts, 1);
  clock.advance(5_000); // the runner checks every five seconds, if the store has not reported it before
  await until(() => attempts === 2);
  await runner.drain(0);
});

Deno.test("the delay counts from the end of a failed attempt and is lengthened by Retry-After", async () => {
  const answers = [answered(503, "30"), answered(429, "100000"), answered(503, "1")];
  const times: number[] = [];
  const { clock, store, webhooks } = await openWebhookStage(() => {
    times.push(clock.now());
    clock.stall(4_000); // it took four seconds
    return Promise.resolve(answers.shift() ?? answered(204));
  });
  const begin = clock.now();
  const ended = endedTask({ endedAt: begin });
  await end({ store, webhooks }, ended);
  const runner = webhooks.startJobs();
  for (let n = 1; n <= 4; n++) {
    await until(() => times.length === n);
    await settled();
    const next = (await webhooks.deliveries.read(ended.taskId))!.delivery.nextAttemptAt;
    if (next !== null) clock.advance(next - clock.now());
  }
  assertEquals(times.map((at) => (at - begin) / 1_000), [0, 34, 638, 662]);
  const { delivery, attempts } = (await webhooks.deliveries.read(ended.taskId))!;
  assertEquals([delivery.state, attempts.map(({ durationMs }) => durationMs)], ["delivered", [4000, 4000, 4000, 4000]]);
  await runner.drain(0);
});

Deno.test("after an attempt during which the clock moves backwards, the next one keeps its delay", async () => {
  const times: number[] = [];
  const { clock, store, webhooks } = await openWebhookStage(() => {
    times.push(clock.monotonicMs());
    clock.stall(3_000);
    if (times.length === 1) clock.set(clock.now() - 3_600_000);
    return Promise.resolve(answered(500));
  });
  const ended = endedTask({ endedAt: clock.now() });
  await end({ store, webhooks }, ended);
  const runner = webhooks.startJobs();
  await until(() => times.length === 1 && runner.running === 0);
  const { delivery, attempts } = (await webhooks.deliveries.read(ended.taskId))!;
  assertEquals([delivery.nextAttemptAt! - clock.now(), attempts[0]?.durationMs], [5_000, 3_000]);
  clock.advance(4_999);
  await settled();
  assertEquals(times.length, 1);
  clock.advance(1);
  await until(() => times.length === 2);
  assertEquals(itemAt(times, 1) - itemAt(times, 0), 8_000);
  await runner.drain(0);
});

Deno.test("a waiting retry keeps its delay if the clock moves backwards, and that time is shown", async () => {
  const times: number[] = [];
  const { clock, store, webhooks } = await openWebhookStage(() => {
    times.push(clock.monotonicMs());
    return Promise.resolve(answered(500));
  });
  const ended = endedTask({ endedAt: clock.now() });
  await end({ store, webhooks }, ended);
  const runner = webhooks.startJobs();
  await until(() => times.length === 1 && runner.running === 0);
  clock.advance(2_000);
  clock.set(clock.now() - 3_600_000);
  const { nextAttemptAt } = (await webhooks.deliveries.read(ended.taskId))!.delivery;
  assertEquals(nextAttemptAt! - clock.now(), 3_000);
  clock.advance(3_000);
  await until(() => times.length === 2);
  assertEquals(itemAt(times, 1) - itemAt(times, 0), 5_000);
  await runner.drain(0);
});

Deno.test("jitter lengthens every delay by up to 10 %", async () => {
  const times: number[] = [];
  const { clock, store, webhooks } = await openWebhookStage(() => {
    times.push(clock.now());
    return Promise.reject(new EgressError("connect", "nobody there"));
  }, () => 0.5);
  await end({ store, webhooks }, endedTask({ endedAt: clock.now() }));
  const runner = webhooks.startJobs();
  for (const delay of [5_250, 10_500, 21_000]) {
    const before = times.length;
    await until(() => times.length === Math.max(before, 1));
    await settled();
    clock.advance(delay - 1);
    await settled();
    const early = times.length;
    clock.advance(1);
    await until(() => times.length === early + 1);
    await settled();
  }
  assertEquals(times.map((at) => at - itemAt(times, 0)), [0, 5_250, 15_750, 36_750]);
  await runner.drain(0);
});

Deno.test("an event that is acknowledged is sent once, and a task without an address has no delivery", async () => {
  let posts = 0;
  const { clock, store, webhooks } = await openWebhookStage(() => Promise.resolve(answered(++posts && 200)));
  const silent = endedTask({ endedAt: clock.now(), callbackUrl: null });
  const expired = endedTask({ endedAt: clock.now(), status: "expired" });
  await end({ store, webhooks }, expired);
  assertEquals(webhooks.onTerminal({}, silent), {});
  const runner = webhooks.startJobs();
  await until(() => posts === 1);
  await settled();
  clock.advance(86_400_000);
  await settled();
  assertEquals(posts, 1);
  assertEquals(await webhooks.deliveries.read(silent.taskId), null);
  assertEquals((await webhooks.deliveries.read(expired.taskId))?.delivery.state, "delivered");
  await runner.drain(0);
});

Deno.test("a body of 100 KB is stored in the terminal commit and sent unchanged on every attempt", async () => {
  const sent: Uint8Array[] = [];
  const { clock, store, webhooks } = await openWebhookStage((_url, { body }) => {
    sent.push(body);
    return Promise.resolve(answered(sent.length < 3 ? 500 : 200));
  });
  const ended = endedTask({ endedAt: clock.now() });
  const long = { ...ended, task: { ...ended.task, prompt: "☾\u0001a\ud800".repeat(20_000) } };
  await end({ store, webhooks }, long);
  const runner = webhooks.startJobs();
  for (let n = 1; n <= 3; n++) {
    await until(() => sent.length === n);
    await settled();
    clock.advance(20_000);
  }
  assert(itemAt(sent, 0).length > 100_000, `${itemAt(sent, 0).length} bytes`);
  assertEquals([sent[1], sent[2]], [sent[0], sent[0]]);
  assertEquals(JSON.parse(new TextDecoder().decode(sent[0])).data, JSON.parse(JSON.stringify(long.task)));
  await runner.drain(0);
});

Deno.test("after a rotation retries are signed with both secrets for a day, then with the new one alone", async () => {
  const seen: Record<string, string>[] = [];
  const { clock, store, webhooks } = await openWebhookStage((_url, { headers }) => {
    seen.push({ ...headers });
    return Promise.resolve(answered(500));
  });
  const ended = endedTask({ endedAt: clock.now() });
  await end({ store, webhooks }, ended);
  const old = itemAt(await readWebhookSecrets(store, "demo"), 0);
  const runner = webhooks.startJobs();
  await until(() => seen.length === 1);
  const fresh = await rotateWebhookSecret(store, "demo");
  await settled();
  clock.advance(5_000);
  await until(() => seen.length === 2);
  const body = (await webhooks.deliveries.requestOf(ended.taskId)).body;
  const isGood = (secret: string, index: number) =>
    valueAt(itemAt(seen, index), "webhook-signature").split(" ").includes(
      new Webhook(secret).sign(
        valueAt(itemAt(seen, index), "webhook-id"),
        new Date(Number(itemAt(seen, index)["webhook-timestamp"]) * 1_000),
        body,
      ),
    );
  assertEquals([isGood(old, 0), isGood(fresh, 0)], [true, false]);
  assertEquals([isGood(old, 1), isGood(fresh, 1)], [true, true]);
  await settled();
  clock.advance(86_400_000);
  await until(() => seen.length === 3);
  assertEquals([isGood(old, 2), isGood(fresh, 2)], [false, true]);
  await runner.drain(0);
});
