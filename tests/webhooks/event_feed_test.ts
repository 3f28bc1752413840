import { assertEquals, assertRejects } from "@std/assert";
import { GatewayError } from "../../src/platform/lib/basics/gateway_error.ts";
import { TERMINAL_STATUSES } from "../../src/services/webhooks/ended_task.ts";
import { testEventOf } from "../../src/services/webhooks/test_event.ts";
import { itemAt } from "../support/items.ts";
import { startVideoGateway } from "../support/video_gateway.ts";
import { end, endedTask, openWebhookStage, type WebhookStage } from "./support.ts";
import { storeTimeOf } from "../../src/platform/store/store_time.ts";

const never = () => new Promise<never>(() => {});
const idsOf = (events: readonly { readonly id: string }[]) => events.map(({ id }) => id);

async function ends(at: WebhookStage, callbackUrl: string | null = null): Promise<string> {
  const ended = endedTask({ endedAt: at.clock.now(), callbackUrl });
  await end(at, ended);
  return ended.taskId;
}

Deno.test("the feed has the events after its first read, with and without a callback address", async () => {
  const at = await openWebhookStage(never);
  const { feed } = at.webhooks;
  await ends(at);
  const first = await feed.read(null);
  assertEquals(first.events, []);
  const ids = [await ends(at), await ends(at, "https://receiver.example/hook?a=1")];
  const long = endedTask({ endedAt: at.clock.now(), callbackUrl: null });
  await end(at, { ...long, task: { ...long.task, prompt: "dusk ".repeat(30_000) } });
  const { events } = await feed.read(first.next);
  assertEquals(idsOf(events), [...ids, long.taskId]);
  assertEquals(events.map(({ url }) => url), [null, "https://receiver.example/hook?a=1", null]);
  assertEquals(events.map(({ body }) => JSON.parse(body).id), idsOf(events));
  assertEquals(events[0]?.headers["x-service-idempotency-key"], `${ids[0]}-completed`);
});

Deno.test("the feed returns the delivered bytes and, at that instant, the same headers", async () => {
  const at = await openWebhookStage(never);
  const { next } = await at.webhooks.feed.read(null);
  const id = await ends(at, "https://receiver.example/");
  const { headers, body } = itemAt((await at.webhooks.feed.read(next)).events, 0);
  assertEquals({ headers, body }, await at.webhooks.deliveries.requestOf(id));
});

Deno.test("events are stored for the feed only within half a minute of a read, and for one minute", async () => {
  const at = await openWebhookStage(never);
  const stored = async () => (await at.store.scan(["webhook", "feed"], { limit: 10 })).length;
  await ends(at);
  assertEquals(await stored(), 0);
  await at.webhooks.feed.read(null);
  at.clock.advance(29_999);
  await ends(at);
  assertEquals([await stored(), at.webhooks.feed.hasReaders], [1, true]);
  at.clock.advance(1);
  await ends(at);
  assertEquals([await stored(), at.webhooks.feed.hasReaders], [1, false]);
  at.clock.advance(60_000);
  assertEquals(await stored(), 0);
});

Deno.test("the feed continues after the clock moves backwards, also after a restart of the gateway", async () => {
  const at = await openWebhookStage(never);
  const { next } = await at.webhooks.feed.read(null);
  const first = await ends(at);
  at.clock.set(at.clock.now() - 3_600_000);
  const second = await ends(at);
  const page = await at.webhooks.feed.read(next);
  assertEquals(idsOf(page.events), [first, second]);

  const again = await openWebhookStage(never);
  again.clock.set(again.clock.now() - 3_600_000);
  const lost = await again.webhooks.feed.read(page.next);
  const third = await ends(again);
  assertEquals(idsOf((await again.webhooks.feed.read(lost.next)).events), [third]);
});

Deno.test("hundreds of events of one instant are read page by page without gaps", async () => {
  const at = await openWebhookStage(never);
  let { next } = await at.webhooks.feed.read(null);
  const ids: string[] = [];
  for (let n = 0; n < 350; n++) ids.push(await ends(at));
  const seen = new Set<string>();
  for (let page = 0; page < 5; page++) {
    const { events, next: on } = await at.webhooks.feed.read(next);
    for (const { id } of events) seen.add(id);
    next = on;
  }
  assertEquals([...seen], ids);
});

Deno.test("a test event has the fields of a real task and is marked as a test", async () => {
  const gateway = await startVideoGateway();
  const real = await gateway.until(await gateway.create(), "completed");
  const parts = {
    taskId: "t",
    account: "demo",
    now: storeTimeOf(1_800_000_000_000),
    baseUrl: "https://gateway.example",
  };
  const { task } = testEventOf({ ...parts, status: "completed" });
  assertEquals(Object.keys(task).toSorted(), Object.keys(real).toSorted());
  const types = (value: object) => Object.fromEntries(Object.entries(value).map(([name, each]) => [name, typeof each]));
  assertEquals(types(task), types(real));
  for (const status of TERMINAL_STATUSES) {
    const made = testEventOf({ ...parts, status }).task as Record<string, unknown>;
    assertEquals([made.status, made.metadata, "error" in made], [status, { test: "true" }, status === "failed"]);
  }
  await gateway.stop();
});

Deno.test("a test event is rejected for an unknown account", async () => {
  const at = await openWebhookStage(never);
  const ended = { ...endedTask({ endedAt: at.clock.now() }), account: "nobody" };
  const refused = await assertRejects(() => at.webhooks.feed.createTestEvent(ended, true), GatewayError);
  assertEquals(refused.code, "not_found");
});

Deno.test("the admin API for events rejects invalid fields by name, and requests without its key", async () => {
  const gateway = await startVideoGateway();
  const admin = { authorization: `Bearer ${gateway.adminKey}` };
  const path = "/admin/v1/events";
  assertEquals((await gateway.call("GET", path)).status, 401);
  assertEquals((await gateway.call("POST", path, { event: "completed", account: "demo" })).status, 401);
  const bad = await gateway.call("GET", `${path}?from=-1`, undefined, admin);
  assertEquals([bad.status, bad.json.error.field], [400, "from"]);
  for (
    const [body, status, field] of [
      [{ event: "video.generation.started", account: "demo" }, 400, "event"],
      [{ event: "completed" }, 400, "account"],
      [{ event: "completed", account: "demo", url: "https://receiver.example/" }, 400, "url"],
      [{ event: "completed", account: "nobody" }, 404, undefined],
    ] as const
  ) {
    const refused = await gateway.call("POST", path, body, admin);
    assertEquals([refused.status, refused.json.error.field], [status, field]);
  }
  const { json: { next } } = await gateway.call("GET", path, undefined, admin);
  const unkept = { event: "video.generation.expired", account: "demo", kept: false };
  const made = await gateway.call("POST", path, unkept, admin);
  assertEquals([made.status, made.json.heard, JSON.parse(made.json.body).event], [201, true, unkept.event]);
  const { json } = await gateway.call("GET", `${path}?from=${next}`, undefined, admin);
  assertEquals(json.data, []);
  await gateway.stop();
});
