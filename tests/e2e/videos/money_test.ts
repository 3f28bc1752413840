import { assertEquals, assertNotEquals } from "@std/assert";
import { startVideoGateway, VALID_BODY } from "../../support/video_gateway.ts";

const LATER = { ...VALID_BODY, prompt: "Later [[queue 600000]]" };

Deno.test("POST /v1/videos returns 402 and stores no task if the estimate exceeds the balance by one unit; 202 if equal", async () => {
  const gateway = await startVideoGateway({ balance: "0.4999999999" });
  const refused = await gateway.call("POST", "/v1/videos", LATER);
  assertEquals([refused.status, refused.json.error.code], [402, "insufficient_credits"]);
  assertEquals((await gateway.call("GET", "/v1/videos")).json.data, []);
  assertEquals(await gateway.money(), { balance: "0.4999999999", held: "0.0000000000" });
  assertEquals(gateway.created(), []);
  await gateway.stop();

  const equal = await startVideoGateway({ balance: "0.50" });
  await equal.create(LATER);
  assertEquals(await equal.money(), { balance: "0.0000000000", held: "0.5000000000" });
  await equal.stop();
});

Deno.test("of 200 concurrent creates at 60 % of the balance each, exactly one is accepted", async () => {
  const gateway = await startVideoGateway({ balance: "0.8333333333" });
  const answers = await Promise.all(Array.from({ length: 200 }, () => gateway.call("POST", "/v1/videos", LATER)));
  const statuses = answers.map(({ status }) => status);
  assertEquals(
    [statuses.filter((status) => status === 202).length, statuses.filter((status) => status === 402).length],
    [
      1,
      199,
    ],
  );
  assertEquals(await gateway.money(), { balance: "0.3333333333", held: "0.5000000000" });
  assertEquals((await gateway.call("GET", "/v1/videos")).json.data.length, 1);
  await gateway.stop();
});

Deno.test("without preauthorization nothing is held, the cost is charged at the end, and a used-up balance is 402", async () => {
  const gateway = await startVideoGateway({ balance: "0.10", config: { billing: { preauthorize: false } } });
  const id = await gateway.create();
  const task = await gateway.until(id, "completed");
  assertEquals(task.usage, { video_seconds: 5, video_cost: "0.5000000000", cost: 0.5 });
  assertEquals(await gateway.money(), { balance: "-0.4000000000", held: "0.0000000000" });
  assertEquals((await gateway.call("POST", "/v1/videos", VALID_BODY)).json.error.code, "insufficient_credits");
  assertEquals((await gateway.call("POST", "/v1/videos", { ...VALID_BODY, model: "sandbox/video-free" })).status, 202);
  await gateway.stop();
});

Deno.test("a task that no vendor finishes expires at its deadline, and its hold is released", async () => {
  const gateway = await startVideoGateway({ limits: { video_deadline: 1 } });
  const id = await gateway.create({ prompt: "Never [[queue 0]] [[never]]" });
  const task = await gateway.until(id, "expired", "failed", "completed");
  assertEquals([task.status, task.error], ["expired", undefined]);
  assertEquals(await gateway.money(), { balance: "25.0000000000", held: "0.0000000000" });
  await gateway.stop();
});

Deno.test("an Idempotency-Key creates one task for one credential and one body", async () => {
  const gateway = await startVideoGateway();
  const { call } = gateway;
  const key = { "idempotency-key": "order-17" };
  const post = (body: unknown, headers: Record<string, string>) => call("POST", "/v1/videos", body, headers);

  const first = await post(LATER, key);
  const again = await post(LATER, key);
  assertEquals([again.status, again.text, again.headers.get("idempotent-replayed")], [202, first.text, "true"]);
  assertEquals(first.headers.get("idempotent-replayed"), null);
  const other = await post({ ...LATER, duration: 4 }, key);
  assertEquals([other.status, other.json.error.code], [422, "invalid_request"]);
  const foreign = await post(LATER, { ...key, authorization: `Bearer ${gateway.otherKey}` });
  assertNotEquals(foreign.json.id, first.json.id);

  const refused = await post({ ...LATER, duration: 0 }, { "idempotency-key": "mended" });
  const mended = await post(LATER, { "idempotency-key": "mended" });
  assertEquals([refused.status, mended.status], [400, 202]);

  const parallel = await Promise.all(Array.from({ length: 20 }, () => post(LATER, { "idempotency-key": "at-once" })));
  const ids = new Set(parallel.flatMap(({ json }) => json.id ?? []));
  assertEquals(ids.size, 1);
  for (const { status, headers } of parallel) {
    if (status === 409) assertEquals(headers.get("retry-after"), "1");
    else assertEquals(status, 202);
  }
  for (const bad of ["", "x".repeat(256), "with space", "ümlaut"]) {
    const { status, json } = await post(LATER, { "idempotency-key": bad });
    assertEquals([status, json.error.code], [400, "invalid_request"]);
  }
  assertEquals((await gateway.money()).held, "2.0000000000");
  await gateway.stop();
});

Deno.test("polling above the limit is 429 with a sufficient Retry-After; POST, DELETE and other keys are not limited", async () => {
  const polling = { requests: 2, per: 1, burst: 3 };
  const gateway = await startVideoGateway({ limits: { video_polling: polling } });
  const { call } = gateway;
  const { json: { id } } = await call("POST", "/v1/videos", LATER);
  const looks = [];
  for (let n = 0; n < 5; n++) looks.push(await call("GET", `/v1/videos/${n === 0 ? "abc" : id}`));
  const refused = looks.find(({ status }) => status === 429)!;
  assertEquals([looks[0]?.status, looks[1]?.status, refused.json.error.code], [404, 200, "rate_limited"]);
  assertEquals(looks[0]?.headers.get("ratelimit-policy"), '"video-polling";q=2;w=1');
  assertEquals(looks.slice(0, 3).map(({ headers }) => /;r=(\d+);/.exec(headers.get("ratelimit")!)?.[1]), [
    "2",
    "1",
    "0",
  ]);
  assertEquals(refused.headers.get("retry-after"), "1");
  assertEquals(/;r=(\d+);/.exec(refused.headers.get("ratelimit")!)?.[1], "0");
  assertEquals((await call("POST", "/v1/videos", LATER)).status, 202);
  assertEquals((await call("GET", "/v1/videos")).status, 200);
  const foreign = { authorization: `Bearer ${gateway.otherKey}` };
  assertEquals((await call("GET", `/v1/videos/${id}`, undefined, foreign)).status, 404);
  assertEquals((await call("DELETE", `/v1/videos/${id}`)).status, 200);
  await new Promise((resolve) => setTimeout(resolve, 1_000));
  assertEquals((await call("GET", `/v1/videos/${id}`)).status, 200);
  await gateway.stop();
});
