import { assertEquals } from "@std/assert";
import { deliverySweep } from "../../src/services/webhooks/retention.ts";
import { itemAt } from "../support/items.ts";
import { end, endedTask, openWebhookStage, settled } from "./support.ts";

const DELIVERIES_MS = 86_400_000;
const answer = (status: number) => ({ status, bytes: 0, header: () => null });

Deno.test("ended deliveries are removed after their retention period, in steps, with their attempts; pending ones stay", async () => {
  const hosts = { "good.example": 204, "bad.example": 500 };
  const { clock, store, webhooks } = await openWebhookStage((url) =>
    Promise.resolve(answer(hosts[new URL(url).host as keyof typeof hosts]))
  );
  const endAt = async (host: string, count: number) => {
    for (let each = 0; each < count; each++) {
      await end({ store, webhooks }, endedTask({ endedAt: clock.now(), callbackUrl: `https://${host}/hook` }));
    }
  };
  const states = async () => {
    const { deliveries } = await webhooks.deliveries.list({ state: null, from: 0, to: clock.now() + 1 }, {
      after: null,
      limit: 500,
      reverse: false,
    });
    return Object.groupBy(deliveries, ({ state }) => state);
  };
  await endAt("good.example", 130);
  await endAt("bad.example", 1);
  const runner = webhooks.startJobs();
  while ((await states()).delivered?.length !== 130) {
    clock.advance(10);
    await settled();
  }
  const sweep = deliverySweep(store, DELIVERIES_MS);
  clock.advance(DELIVERIES_MS / 2);
  await runner.drain(0);
  await sweep();
  assertEquals((await states()).delivered?.length, 130);
  clock.advance(DELIVERIES_MS);
  assertEquals([await sweep(), await sweep()], [true, false]);
  const left = await states();
  assertEquals([left.delivered, left.pending?.length], [undefined, 1]);
  const keys = await store.scan(["webhook", "attempt"], { limit: 500 });
  assertEquals(new Set(keys.map(({ key }) => key[2])), new Set([itemAt(left.pending!, 0).id]));
});

Deno.test("deliveries stay forever without a retention period", async () => {
  const { clock, store, webhooks } = await openWebhookStage(() => Promise.resolve(answer(204)));
  const ended = endedTask({ endedAt: clock.now() });
  await end({ store, webhooks }, ended);
  const runner = webhooks.startJobs();
  while ((await webhooks.deliveries.read(ended.taskId))?.delivery.state !== "delivered") await settled();
  await runner.drain(0);
  clock.advance(1_000 * DELIVERIES_MS);
  assertEquals([await deliverySweep(store, null)(), (await webhooks.deliveries.read(ended.taskId)) !== null], [
    false,
    true,
  ]);
});

Deno.test("a task's delivery is pending until its event is delivered, and is removed only then", async () => {
  const { clock, store, webhooks } = await openWebhookStage(() => Promise.resolve(answer(204)));
  const ended = endedTask({ endedAt: clock.now() });
  const { taskId } = ended;
  assertEquals([await webhooks.hasPendingDelivery(taskId), await webhooks.onRemoval(taskId)], [false, true]);
  await end({ store, webhooks }, ended);
  assertEquals([await webhooks.hasPendingDelivery(taskId), await webhooks.onRemoval(taskId)], [true, false]);
  const runner = webhooks.startJobs();
  while (await webhooks.hasPendingDelivery(taskId)) await settled();
  await runner.drain(0);
  assertEquals([await webhooks.onRemoval(taskId), await webhooks.deliveries.read(taskId)], [true, null]);
});
