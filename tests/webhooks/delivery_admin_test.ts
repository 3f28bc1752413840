import { assert, assertEquals, assertRejects } from "@std/assert";
import { unobservedRecord } from "../support/unobserved_record.ts";
import { GatewayError } from "../../src/platform/lib/basics/gateway_error.ts";
import { adminDeliveryRoutes } from "../../src/protocols/admin/deliveries.ts";
import type { Route } from "../../src/platform/http/request/inbound.ts";
import type { AdminRoute } from "../../src/protocols/admin/shared/admin_route.ts";
import type { Store } from "../../src/platform/store/store.ts";
import { ADMIN_KEY, withAdminKey } from "../protocols/admin/support.ts";
import { EgressError } from "../../src/platform/net/egress_error.ts";
import { gatewayErrorOf } from "../../src/platform/lib/basics/gateway_error.ts";
import { atLeast, itemAt, valueAt } from "../support/items.ts";
import { until } from "../support/manual_clock.ts";
import { end, endedTask, openWebhookStage, settled, type WebhookStage } from "./support.ts";
import { UNLIMITED_MEMORY } from "../../src/platform/lib/process/memory_budget.ts";

/** Webhooks whose receiver rejects while `isDown`, run until all attempts were made. */
async function openAdminStage() {
  const receiver = { isDown: true, posts: [] as string[] };
  const all = await openWebhookStage((_url, { headers, body }) => {
    receiver.posts.push(`${headers["x-service-idempotency-key"]} ${new TextDecoder().decode(body)}`);
    return Promise.resolve({ status: receiver.isDown ? 500 : 200, bytes: 0, header: () => null });
  });
  const runner = all.webhooks.startJobs();
  return { ...all, receiver, runner };
}

/** Advances the clock until nothing is pending. */
async function exhaust({ clock, webhooks }: WebhookStage, id: string): Promise<void> {
  for (;;) {
    await settled();
    const { state } = (await webhooks.deliveries.read(id))!.delivery;
    if (state !== "pending") return;
    clock.advance(700_000);
  }
}

Deno.test("an exhausted delivery is redelivered with the same key and bytes, and its attempt count continues", async () => {
  const at = await openAdminStage();
  const { deliveries: admin } = at.webhooks;
  const { taskId } = endedTask({ endedAt: at.clock.now() });
  await end(at, endedTask({ taskId, endedAt: at.clock.now() }));
  await exhaust(at, taskId);
  at.receiver.isDown = false;
  assertEquals((await admin.redeliver(taskId)).state, "pending");
  await until(() => at.receiver.posts.length === 12);
  await exhaust(at, taskId);
  const { delivery, attempts } = (await admin.read(taskId))!;
  assertEquals([delivery.state, delivery.attempts], ["delivered", 12]);
  assertEquals(attempts.map(({ number }) => number), Array.from({ length: 12 }, (_, index) => index + 1));
  assertEquals(new Set(at.receiver.posts).size, 1);
  await at.runner.drain(0);
});

Deno.test("a postponed attempt is made at the time shown in the list and for the task", async () => {
  let isGood = false;
  let hanging = 0;
  const postedAt = new Map<string, number>();
  const at = await openWebhookStage((_url, { headers }) => {
    if (isGood) {
      postedAt.set(valueAt(headers, "x-service-idempotency-key").replace("-completed", ""), at.clock.now());
      return Promise.resolve({ status: 204, bytes: 0, header: () => null });
    }
    const { promise, reject } = Promise.withResolvers<never>();
    hanging++;
    at.clock.after(10_000, () => {
      hanging--;
      reject(new EgressError("timeout", "no answer"));
    });
    return promise;
  });
  for (let n = 0; n < 20; n++) await end(at, endedTask({ endedAt: at.clock.now() }));
  const runner = at.webhooks.startJobs();
  await until(() => runner.running === 20);
  at.clock.advance(10_000);
  await until(() => hanging === 1); // the probe
  isGood = true;
  at.clock.advance(10_000);
  await until(() => runner.running === 0);

  const range = { state: "pending", from: 0, to: Infinity } as const;
  const { deliveries } = await at.webhooks.deliveries.list(range, { after: null, limit: 100, reverse: false });
  const promised = deliveries.map(({ id, nextAttemptAt }) => ({ id, nextAttemptAt: nextAttemptAt! }));
  assert(promised.length >= 10, "those that failed, and those behind the five that may wait");
  assert(promised.every(({ nextAttemptAt }) => nextAttemptAt > at.clock.now()), "none of them is under way");
  for (const { id, nextAttemptAt } of promised) {
    assertEquals((await at.webhooks.deliveries.read(id))?.delivery.nextAttemptAt, nextAttemptAt);
  }
  for (const { id, nextAttemptAt } of promised.toSorted((a, b) => a.nextAttemptAt - b.nextAttemptAt)) {
    at.clock.advance(Math.max(nextAttemptAt - at.clock.now(), 0));
    await until(() => postedAt.has(id));
    assertEquals(postedAt.get(id), nextAttemptAt);
  }
  await runner.drain(0);
});

Deno.test("a new round has all its retries", async () => {
  const at = await openAdminStage();
  const ended = endedTask({ endedAt: at.clock.now() });
  await end(at, ended);
  await exhaust(at, ended.taskId);
  await at.webhooks.deliveries.redeliver(ended.taskId);
  await exhaust(at, ended.taskId);
  assertEquals(at.receiver.posts.length, 22);
  await at.runner.drain(0);
});

Deno.test("a pending or unknown delivery cannot be redelivered", async () => {
  const at = await openAdminStage();
  const ended = endedTask({ endedAt: at.clock.now() });
  await end(at, ended);
  const { deliveries: admin } = at.webhooks;
  const pending = await assertRejects(() => admin.redeliver(ended.taskId), GatewayError);
  assertEquals([pending.code, pending.status], ["conflict", 409]);
  const unknown = await assertRejects(() => admin.redeliver(crypto.randomUUID()), GatewayError);
  assertEquals(unknown.code, "not_found");
  await exhaust(at, ended.taskId);
  const both = await Promise.allSettled([admin.redeliver(ended.taskId), admin.redeliver(ended.taskId)]);
  assertEquals(both.map(({ status }) => status).toSorted(), ["fulfilled", "rejected"], "of two at once one begins");
  await at.runner.drain(0);
});

Deno.test("the admin API lists deliveries by time and state, page by page, and redelivers a range", async () => {
  const at = await openAdminStage();
  const call = caller(
    at.store,
    adminDeliveryRoutes({
      admin: at.webhooks.deliveries,
      readJson: async ({ request }) => await request.json(),
    }),
  );
  const ids: string[] = [];
  const begin = at.clock.now();
  for (let n = 0; n < 7; n++) {
    const ended = endedTask({ endedAt: begin + n * 1_000, status: n % 2 ? "failed" : "completed" });
    ids.push(ended.taskId);
    await end(at, ended);
  }
  const second = begin / 1_000;
  const tasks = (body: { data: { task: string }[] }) => body.data.map(({ task }) => task);
  assertEquals(tasks((await call("GET", "?state=pending&order=asc")).body), ids);
  for (const id of ids) await exhaust(at, id);

  const first = await call("GET", "?limit=3");
  const rest = await call("GET", `?limit=100&after=${first.body.next}`);
  assertEquals([...tasks(first.body), ...tasks(rest.body)], ids.toReversed());
  assertEquals(rest.body.next, null);
  const range = await call("GET", `?order=asc&from=${second + 2}&to=${second + 5}&state=exhausted`);
  assertEquals(tasks(range.body), ids.slice(2, 5));
  assertEquals((await call("GET", "?state=pending")).body.data, []);

  at.receiver.isDown = false;
  const again = await call("POST", "/redeliver", { from: second + 2, to: second + 5 });
  assertEquals([again.status, again.body], [202, { redelivered: 3, next: null }]);
  for (const id of ids) await exhaust(at, id);
  assertEquals(tasks((await call("GET", "?state=delivered&order=asc")).body), ids.slice(2, 5));
  const one = await call("GET", `/${ids[2]}`);
  assertEquals([one.body.state, one.body.attempts, one.body.attempt_log.at(-1).status], ["delivered", 12, 200]);
  assertEquals(one.body.url, "https://receiver.example/hook", "without the query");
  const request = await call("GET", `/${ids[2]}/request`);
  assertEquals(request.body.headers["x-service-idempotency-key"], `${ids[2]}-completed`);
  assertEquals(JSON.parse(request.body.body).id, ids[2]);
  assertEquals((await call("POST", `/${ids[0]}/redeliver`)).status, 202);
  await at.runner.drain(0);
});

Deno.test("the admin API rejects invalid fields by name, and requests without its key", async () => {
  const at = await openAdminStage();
  const parts = {
    admin: at.webhooks.deliveries,
    readJson: async ({ request }: { request: Request }) => await request.json(),
  };
  const call = caller(at.store, adminDeliveryRoutes(parts));
  for (const [query, field] of [["from=x", "from"], ["to=-1", "to"], ["state=lost", "state"], ["order=up", "order"]]) {
    const { status, body } = await call("GET", `?${query}`);
    assertEquals([status, body.error.field], [400, field]);
  }
  assertEquals((await call("GET", "?after=nowhere")).body.error.field, "after");
  for (
    const [body, field] of [[{ to: 5 }, "from"], [{ from: 5, to: 5 }, "to"], [
      { from: 1, to: 2, state: "pending" },
      "state",
    ]]
  ) {
    const answer = await call("POST", "/redeliver", body);
    assertEquals([answer.status, answer.body.error.field], [400, field]);
  }
  assertEquals((await call("GET", `/${crypto.randomUUID()}`)).status, 404);
  assertEquals((await call("GET", `/${crypto.randomUUID()}/request`)).status, 404);
  assertEquals((await call("GET", "", undefined, "another-key")).status, 401);
  await at.runner.drain(0);
});

Deno.test("a range above the maximum of one call continues after its next", async () => {
  const at = await openAdminStage();
  at.receiver.isDown = false;
  const count = 520;
  const now = at.clock.now();
  await Promise.all(Array.from({ length: count }, () => end(at, endedTask({ endedAt: now }))));
  const range = { state: "delivered", from: now, to: now + 1 } as const;
  const { deliveries: admin } = at.webhooks;
  const untilSettled = async () => {
    while ((await admin.list({ ...range, state: "pending" }, PAGE)).deliveries.length > 0) {
      at.clock.advance(1_000); // most were postponed by the one host
      await settled();
    }
  };
  await untilSettled();
  const first = await admin.redeliverRange(range, null);
  assert(first.next !== null);
  assertEquals(first.redelivered, 500);
  const second = await admin.redeliverRange(range, first.next);
  assertEquals([second.redelivered, second.next], [20, null]);
  await untilSettled();
  assertEquals(at.receiver.posts.length, 2 * count);
  await at.runner.drain(0);
});

const PAGE = { after: null, limit: 1, reverse: false };

/** Calls an endpoint like the router. */
function caller(store: Store, unguarded: readonly AdminRoute[]) {
  const routes = withAdminKey(unguarded, store);
  return async (method: string, rest: string, body?: unknown, key = ADMIN_KEY) => {
    const [path, query = ""] = atLeast(`/admin/v1/deliveries${rest}`.split("?"), 1);
    const segments = path.split("/");
    const isMatch = (route: Route) => {
      const pattern = route.path.split("/");
      return route.method === method && pattern.length === segments.length &&
        pattern.every((part, index) => part.startsWith(":") || part === segments[index]);
    };
    const route = routes.find(isMatch)!;
    const params = Object.fromEntries(
      route.path.split("/").flatMap((part, index) =>
        part.startsWith(":") ? [[part.slice(1), itemAt(segments, index)]] : []
      ),
    );
    const request = new Request(`http://localhost${path}`, {
      method,
      headers: { authorization: `Bearer ${key}` },
      body: body === undefined ? null : JSON.stringify(body),
    });
    const record = unobservedRecord();
    const facts = { requestId: "req_test", receivedAt: 0, remote: "", record, memory: UNLIMITED_MEMORY.lease() };
    const inbound = { request, method, path, endpoint: route, query, params, ...facts };
    let response: Response;
    try {
      response = await route.handler(inbound);
    } catch (thrown) {
      response = route.renderError(gatewayErrorOf(thrown), "req_test");
    }
    // deno-lint-ignore no-explicit-any -- a test looks wherever it likes
    return { status: response.status, body: await response.json() as any };
  };
}
