import { assertEquals, assertStringIncludes } from "@std/assert";
import { systemClock } from "../../src/platform/lib/basics/clock.ts";
import { silentLog } from "../../src/platform/lib/basics/log.ts";
import { openKvStore } from "../../src/platform/store/kv/open_kv_store.ts";
import { newDelivery } from "../../src/services/webhooks/delivery.ts";
import { addDelivery } from "../../src/services/webhooks/records.ts";
import { type Receiver, respondWith, startReceiver } from "../webhooks/receiver.ts";
import { endedTask } from "../webhooks/support.ts";
import { makePlace, type Place } from "./gateway_folder.ts";
import { stateOf } from "../support/patience.ts";

Deno.test("deliveries commands list, show and redeliver on a running gateway", async () => {
  const place = await makePlace();
  const receiver = startReceiver(respondWith(200));
  const gateway = await place.serve();
  const id = await deliver(place, gateway.address, receiver);

  const listed = await place.run("deliveries", "list", "--state", "delivered", "--limit", "5");
  const { data: [delivery], next } = JSON.parse(listed.said);
  assertEquals([listed.code, delivery.task, delivery.state, next], [0, id, "delivered", null]);
  const again = await place.run("deliveries", "redeliver", id);
  assertEquals([again.code, JSON.parse(again.said).state], [0, "pending"]);
  const range = ["--from", String(delivery.created_at), "--to", String(delivery.created_at + 1)];
  await settled(place, id);
  const all = await place.run("deliveries", "redeliver", ...range, "--state", "delivered");
  assertEquals([all.code, JSON.parse(all.said)], [0, { redelivered: 1, next: null }]);

  const { state, attempt_log } = await settled(place, id);
  assertEquals([state, attempt_log.map(({ status }: { status: number }) => status)], ["delivered", [200, 200, 200]]);
  const keys = receiver.received.map(({ headers }) => headers.get("x-service-idempotency-key"));
  assertEquals(keys, Array(3).fill(`${id}-cancelled`));
  await gateway.stop();
  await receiver.stop();
  await place.remove();
});

Deno.test("a redelivery on a stopped gateway is sent at its next start, signed with the secret of that time", async () => {
  const place = await makePlace();
  const receiver = startReceiver(respondWith(200));
  const gateway = await place.serve();
  const id = await deliver(place, gateway.address, receiver);
  await gateway.stop();

  const rotated = await place.run("webhook-secrets", "rotate", "demo");
  const { account, webhook_secret } = JSON.parse(rotated.said);
  assertEquals([rotated.code, account, webhook_secret.slice(0, 6)], [0, "demo", "whsec_"]);
  const request = JSON.parse((await place.run("deliveries", "request", id)).said);
  assertEquals((await place.run("deliveries", "redeliver", id)).code, 0);
  const refused = await place.run("deliveries", "redeliver", id);
  assertEquals([refused.code, refused.said], [1, ""]);
  assertStringIncludes(refused.complaint, "Cannot redeliver: the delivery is pending");

  const next = await place.serve();
  await settled(place, id);
  const [first, second] = receiver.received.map(({ headers }) => headers.get("x-service-signature"));
  assertEquals(second, request.headers["x-service-signature"]);
  assertEquals([receiver.received.length, first === second], [2, false]);
  await next.stop();
  await receiver.stop();
  await place.remove();
});

Deno.test("deliveries redeliver restarts a whole range of several calls, and nothing outside it", async () => {
  const place = await makePlace();
  const first = 1_800_000_000_000;
  await storeExhausted(place, 503, first);
  const range = ["--from", String(first / 1_000 + 1), "--to", String(first / 1_000 + 502)];
  const { code, said, complaint } = await place.run("deliveries", "redeliver", ...range);
  assertEquals([code, complaint, JSON.parse(said)], [0, "", { redelivered: 501, next: null }]);
  const left = JSON.parse((await place.run("deliveries", "list", "--state", "exhausted")).said).data;
  const times = left.map(({ created_at }: { created_at: number }) => created_at * 1_000 - first);
  assertEquals(times, [502_000, 0]);
  await place.remove();
});

Deno.test("a deliveries command that fails prints one message", async () => {
  const place = await makePlace();
  await place.run("accounts", "create", "acme");
  const unknown = "01a1fdeb-b7c5-7000-bf54-5f9acd06a174";
  for (
    const [words, code, complaint] of [
      [["show", unknown], 1, "Cannot find a delivery: the task has none"],
      [["redeliver", unknown], 1, "Cannot find a delivery: the task has none"],
      [["list", "--state", "lost"], 1, 'Cannot read --state "lost": expected pending or delivered or exhausted'],
      [
        ["redeliver", "--from", "noon", "--to", "2"],
        2,
        "switchyard deliveries redeliver: --from: expected a time: 90m",
      ],
      [["redeliver", "--from", "2", "--to", "2"], 1, 'Cannot read --to "2": expected a time after from'],
      [
        ["redeliver", "--from", "1", "--to", "2", "--state", "pending"],
        1,
        'Cannot read --state "pending": expected exhausted or',
      ],
      [["redeliver"], 2, "switchyard deliveries redeliver: missing argument: a task ID, or --from and --to"],
      [
        ["redeliver", "--from", "1", "--to", "2", "--account", "a"],
        2,
        "switchyard deliveries redeliver: unknown option",
      ],
    ] as const
  ) {
    const answer = await place.run("deliveries", ...words);
    assertEquals([answer.code, answer.said], [code, ""], words.join(" "));
    assertStringIncludes(answer.complaint, complaint);
  }
  await place.remove();
});

/** Has an event delivered; gives its task. */
async function deliver(place: Place, address: string, receiver: Receiver): Promise<string> {
  const id = await place.create(address, { callback_url: `https://127.0.0.1:${receiver.port}/hook` });
  await place.cancel(address, id);
  assertEquals((await settled(place, id)).state, "delivered");
  return id;
}

/** The delivery of a task once it is not pending any more, as `deliveries show` prints it. */
async function settled(place: Place, id: string) {
  return await stateOf(`the delivery of ${id} has ended`, async () => {
    const { code, said, complaint } = await place.run("deliveries", "show", id);
    if (code !== 0) throw new Error(complaint);
    return JSON.parse(said);
  }, ({ state }) => state !== "pending");
}

/** Puts deliveries that were given up into a place's store, one for each second from an instant on. */
async function storeExhausted(place: Place, count: number, firstAt: number): Promise<void> {
  const store = await openKvStore({ path: place.store, clock: systemClock, log: silentLog });
  const commits = Array.from({ length: count }, (_, index) => {
    const ended = endedTask({ endedAt: firstAt + index * 1_000 });
    const about = newDelivery({
      ...ended,
      id: ended.taskId,
      url: "https://receiver.example/hook",
      createdAt: ended.endedAt,
    });
    const givenUp = { ...about, state: "exhausted", nextAttemptAt: null, settledAt: about.createdAt } as const;
    const { addJobs: _job, ...commit } = addDelivery({}, givenUp, new Uint8Array(10));
    return store.commit(null, commit);
  });
  for (const { ok } of await Promise.all(commits)) assertEquals(ok, true);
  await store.close();
}
