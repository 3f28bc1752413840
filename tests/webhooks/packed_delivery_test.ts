import { assert, assertEquals } from "@std/assert";
import type { Delivery } from "../../src/services/webhooks/delivery.ts";
import { packDelivery, unpackDelivery } from "../../src/services/webhooks/packed_delivery.ts";
import { readDelivery } from "../../src/services/webhooks/records.ts";
import { end, endedTask, openWebhookStage, settled } from "./support.ts";
import { storeTimeOf } from "../../src/platform/store/store_time.ts";

const DELIVERY: Delivery = {
  id: "01a1fdeb-b7b2-7000-ae30-4c1d4e1b94b0",
  account: "demo",
  status: "completed",
  url: "https://receiver.example/hook?a=1",
  createdAt: storeTimeOf(1),
  state: "delivered",
  attempts: 1,
  attemptsBefore: 0,
  nextAttemptAt: null,
  settledAt: 2,
  body: { bytes: 4, whole: new Uint8Array([10, 0, 255, 10]) },
};

Deno.test("an ended delivery is stored compact with its body and read unchanged; a pending one is stored as an object", () => {
  const inPieces = { ...DELIVERY, body: { bytes: 100_000, pieces: 3 } };
  for (
    const delivery of [
      DELIVERY,
      inPieces,
      { ...DELIVERY, state: "exhausted", attempts: 22, attemptsBefore: 11 } as const,
    ]
  ) {
    const stored = packDelivery(delivery);
    assert(stored instanceof Uint8Array);
    assertEquals(unpackDelivery(stored), delivery);
  }
  const pending = { ...DELIVERY, state: "pending", nextAttemptAt: storeTimeOf(5), settledAt: null } as const;
  assertEquals([packDelivery(pending), unpackDelivery(DELIVERY)], [pending, DELIVERY]);
});

Deno.test("a redelivery sends the same bytes, also for a record of an earlier version", async () => {
  const bodies: string[] = [];
  const { clock, store, webhooks } = await openWebhookStage((_url, { body }) => {
    bodies.push(new TextDecoder().decode(body));
    return Promise.resolve({ status: 204, bytes: 0, header: () => null });
  });
  const ended = endedTask({ endedAt: clock.now() });
  await end({ store, webhooks }, ended);
  const runner = webhooks.startJobs();
  const whenDelivered = async () => {
    while ((await readDelivery(store, ended.taskId))?.value.state !== "delivered") await settled();
  };
  await whenDelivered();
  await webhooks.deliveries.redeliver(ended.taskId);
  await whenDelivered();
  const { key, value } = (await readDelivery(store, ended.taskId))!;
  await store.commit(null, { set: [{ key, value }] }); // not compact, as in earlier versions
  await webhooks.deliveries.redeliver(ended.taskId);
  await whenDelivered();
  await runner.drain(0);
  assertEquals([bodies.length, new Set(bodies).size], [3, 1]);
});
