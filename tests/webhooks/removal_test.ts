import { assertEquals } from "@std/assert";
import { removeEndedDelivery } from "../../src/services/webhooks/records.ts";
import type { Webhooks } from "../../src/services/webhooks/webhooks.ts";
import { end, endedTask, openWebhookStage, settled } from "./support.ts";

const acknowledged = { status: 204, bytes: 0, header: () => null };

async function delivered({ deliveries: admin }: Webhooks, id: string): Promise<void> {
  while ((await admin.read(id))?.delivery.state !== "delivered") await settled();
}

/** Returns all stored keys of deliveries. */
async function storedKeys(store: Parameters<typeof removeEndedDelivery>[0]): Promise<string[]> {
  return (await store.scan(["webhook"], { limit: 1_000 })).map(({ key }) => key.join(" "));
}

Deno.test("removeEndedDelivery() removes a delivered delivery with its attempts and its body, and no other", async () => {
  const { clock, store, webhooks } = await openWebhookStage(() => Promise.resolve(acknowledged));
  const kept = endedTask({ endedAt: clock.now() });
  await end({ store, webhooks }, kept);
  const gone = endedTask({ endedAt: clock.now() });
  await end({ store, webhooks }, { ...gone, task: { ...gone.task, prompt: "dusk ".repeat(30_000) } });
  const runner = webhooks.startJobs();
  await delivered(webhooks, gone.taskId);
  await delivered(webhooks, kept.taskId);
  await runner.drain(0);

  assertEquals(await removeEndedDelivery(store, gone.taskId), true);
  assertEquals((await storedKeys(store)).filter((key) => key.includes(gone.taskId)), []);
  assertEquals(await webhooks.deliveries.read(gone.taskId), null);
  assertEquals((await webhooks.deliveries.read(kept.taskId))?.attempts.length, 1);
  assertEquals(await removeEndedDelivery(store, gone.taskId), false, "there is none any more");
});

Deno.test("removeEndedDelivery() does not remove a delivery before its end or within its retention period", async () => {
  const { clock, store, webhooks } = await openWebhookStage(() => Promise.resolve(acknowledged));
  const ended = endedTask({ endedAt: clock.now() });
  await end({ store, webhooks }, ended);
  const before = await storedKeys(store);
  assertEquals(await removeEndedDelivery(store, ended.taskId), false, "pending");
  assertEquals(await storedKeys(store), before);

  const runner = webhooks.startJobs();
  await delivered(webhooks, ended.taskId);
  await runner.drain(0);
  const settledAt = (await webhooks.deliveries.read(ended.taskId))!.delivery.settledAt!;
  assertEquals(await removeEndedDelivery(store, ended.taskId, settledAt), false, "it ended at that instant");
  await webhooks.deliveries.redeliver(ended.taskId);
  assertEquals(await removeEndedDelivery(store, ended.taskId), false, "pending again");
  assertEquals((await webhooks.deliveries.read(ended.taskId))?.delivery.attempts, 1);
});

Deno.test("removeEndedDelivery() removes the attempts of hundreds of rounds", async () => {
  const { clock, store, webhooks } = await openWebhookStage(() => Promise.resolve(acknowledged));
  const ended = endedTask({ endedAt: clock.now() });
  await end({ store, webhooks }, ended);
  const runner = webhooks.startJobs();
  await delivered(webhooks, ended.taskId);
  await runner.drain(0);
  const { delivery, attempts } = (await webhooks.deliveries.read(ended.taskId))!;
  const numbers = Array.from({ length: 1_200 }, (_, index) => index + 2);
  for (let from = 0; from < numbers.length; from += 100) {
    await store.commit(null, {
      set: numbers.slice(from, from + 100)
        .map((number) => ({ key: ["webhook", "attempt", ended.taskId, number], value: attempts[0] })),
    });
  }
  await store.commit(null, {
    set: [{ key: ["webhook", "delivery", ended.taskId], value: { ...delivery, attempts: 1_201 } }],
  });
  assertEquals(await removeEndedDelivery(store, ended.taskId), true);
  assertEquals(await storedKeys(store), []);
});
