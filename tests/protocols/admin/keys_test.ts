import { assertEquals, assertMatch } from "@std/assert";
import { eventLoopTurn } from "../../billing/support.ts";
import { openTestAdmin } from "./support.ts";
import { unlimitedKey } from "../../support/callers.ts";

Deno.test("POST …/keys returns the secret once, and lists never do", async () => {
  const { call, clock } = await openTestAdmin();
  await call("POST", "", { id: "acme" });
  const { status, body: { secret, ...key } } = await call("POST", "/acme/keys");
  assertEquals(status, 201);
  assertMatch(secret, /^sk-sy-[0-9A-Za-z]{49}$/);
  assertEquals(key, {
    id: key.id,
    account: "acme",
    name: null,
    prefix: secret.slice(0, 12),
    created_at: clock.now() / 1000,
    last_used_at: null,
    revoked_at: null,
    expires_at: null,
    models: null,
    endpoints: null,
    providers: null,
    ip_allow: null,
    rpm: null,
    tpm: null,
    concurrency: null,
    budget: null,
    metadata: {},
    capture: null,
    prompt_caching: null,
  });
  assertEquals((await call("GET", "/acme/keys")).body, { data: [key], next: null });
});

Deno.test("GET …/keys returns when a key was last used, to the hour", async () => {
  const { call, keys, clock } = await openTestAdmin();
  await call("POST", "", { id: "acme" });
  const { secret } = (await call("POST", "/acme/keys")).body;
  clock.advance(60_000);
  await keys.resolve(secret);
  await eventLoopTurn();
  assertEquals((await call("GET", "/acme/keys")).body.data[0].last_used_at, clock.now() / 1000);
});

Deno.test("DELETE …/keys/:key revokes the key at once, and is idempotent", async () => {
  const { call, keys, clock } = await openTestAdmin();
  await call("POST", "", { id: "acme" });
  const { id, secret } = (await call("POST", "/acme/keys")).body;
  await keys.resolve(secret);
  const revoked = await call("DELETE", `/acme/keys/${id}`);
  assertEquals([revoked.status, revoked.body.revoked_at], [200, clock.now() / 1000]);
  assertEquals(await Promise.try(() => keys.resolve(secret)).catch((error) => error.code), "invalid_api_key");
  clock.advance(60_000);
  assertEquals((await call("DELETE", `/acme/keys/${id}`)).body, revoked.body);
});

Deno.test("DELETE …/keys/:key answers 404 to another account's key and to an unknown one", async () => {
  const { call } = await openTestAdmin();
  await call("POST", "", { id: "acme" });
  await call("POST", "", { id: "zeta" });
  const { id } = (await call("POST", "/acme/keys")).body;
  for (const path of [`/zeta/keys/${id}`, "/acme/keys/key_1", `/acme/keys/${"k".repeat(2000)}`]) {
    assertEquals((await call("DELETE", path)).status, 404);
  }
});

const SETTINGS = {
  name: "ci",
  expires_at: 4_102_444_800,
  models: ["openai/*", "fast"],
  endpoints: ["chat_completions"],
  providers: ["openai"],
  ip_allow: ["10.0.0.0/8"],
  rpm: 60,
  tpm: 100_000,
  concurrency: 4,
  budget: { amount: "20.0000000000", per: "month" },
  metadata: { team: "search" },
};

Deno.test("POST …/keys sets every limit, and GET shows the key without its secret", async () => {
  const { call } = await openTestAdmin();
  await call("POST", "", { id: "acme" });
  const written = { ...SETTINGS, expires_at: "2100-01-01", budget: { amount: "20", per: "month" } };
  const { status, body: { secret: _, ...key } } = await call("POST", "/acme/keys", written);
  assertEquals(status, 201);
  assertEquals({ ...key, ...SETTINGS }, key);
  const { left, ...shown } = (await call("GET", `/acme/keys/${key.id}`)).body;
  assertEquals(shown, key);
  assertEquals(left.key.budget.left, "20.0000000000");
  assertEquals((await call("GET", "/acme/keys")).body.data, [key]);
  assertEquals((await call("GET", "/acme/keys/key_1")).status, 404);
});

Deno.test("POST …/keys refuses a key that would be expired", async () => {
  const { call } = await openTestAdmin();
  await call("POST", "", { id: "acme" });
  const { status, body: { error } } = await call("POST", "/acme/keys", { expires_at: "2020-01-01" });
  assertEquals([status, error.message], [
    400,
    'Cannot read "expires_at": expected a time to come, got 2020-01-01T00:00:00.000Z',
  ]);
  assertEquals((await call("GET", "/acme/keys")).body.data, []);
});

Deno.test("PATCH …/keys/:key changes what is given, removes with null, keeps the rest, and is in force at once", async () => {
  const { call, keys } = await openTestAdmin();
  await call("POST", "", { id: "acme" });
  const { id, secret, ...key } = (await call("POST", "/acme/keys", SETTINGS)).body;
  await keys.resolve(secret);
  const { status, body } = await call("PATCH", `/acme/keys/${id}`, { rpm: 5, budget: null, metadata: { a: "b" } });
  assertEquals(status, 200);
  assertEquals(body, { ...key, id, rpm: 5, budget: null, metadata: { a: "b" }, last_used_at: body.last_used_at });
  assertEquals((await keys.resolve(secret)).limits?.key.rpm, 5);
  assertEquals((await call("PATCH", `/acme/keys/${id}`, { capture: "all" })).body.capture, "all");
  assertEquals((await call("PATCH", `/acme/keys/${id}`, { capture: null })).body.capture, null);
  await call("PATCH", `/acme/keys/${id}`, { expires_at: 1 });
  assertEquals(await Promise.try(() => keys.resolve(secret)).catch((error) => error.code), "invalid_api_key");
  assertEquals((await call("PATCH", "/acme/keys/key_1", { rpm: 5 })).status, 404);
});

Deno.test("PATCH /:account changes limits and overdraft at once for every key of the account", async () => {
  const { call, keys, meter } = await openTestAdmin();
  await call("POST", "", { id: "acme", name: "Acme", rpm: 100 });
  const { secret } = (await call("POST", "/acme/keys")).body;
  assertEquals((await keys.resolve(secret)).limits?.account.rpm, 100);
  const changed = await call("PATCH", "/acme", { rpm: null, tpm: 7, overdraft: "5" });
  const { name, rpm, tpm, overdraft } = changed.body;
  assertEquals([name, rpm, tpm, overdraft], ["Acme", null, 7, "5.0000000000"]);
  assertEquals((await keys.resolve(secret)).limits?.account, { tpm: 7 });
  const metadata = { customer: "C-17" };
  const dated = await call("PATCH", "/acme", { expires_at: "2100-01-01", metadata });
  assertEquals([dated.body.expires_at, dated.body.metadata], [4_102_444_800, metadata]);
  assertEquals((await call("PATCH", "/acme", { name: "Acme Ltd" })).body.metadata, metadata);
  await call("PATCH", "/acme", { expires_at: 1 });
  assertEquals(await Promise.try(() => keys.resolve(secret)).catch((error) => error.code), "invalid_api_key");
  const endless = await call("PATCH", "/acme", { expires_at: null, metadata: null });
  assertEquals([endless.body.expires_at, endless.body.metadata], [null, {}]);
  await keys.resolve(secret);
  assertEquals((await call("PATCH", "/acme", { capture: "errors" })).body.capture, "errors");
  assertEquals((await call("PATCH", "/acme", { capture: null })).body.capture, "none");
  (await meter.admit(unlimitedKey("acme"), 50_000_000_000n)).release();
  await call("PATCH", "/acme", { overdraft: null });
  assertEquals((await call("GET", "/acme")).body.overdraft, "0.0000000000");
  assertEquals(
    await Promise.try(() => meter.admit(unlimitedKey("acme"), 1n)).catch((error) => error.code),
    "insufficient_credits",
  );
});

Deno.test("the admin API refuses unknown fields with the nearest known one, and says which values are expected", async () => {
  const { call } = await openTestAdmin();
  await call("POST", "", { id: "acme" });
  const { id } = (await call("POST", "/acme/keys")).body;
  for (
    const [method, path, body, field, message] of [
      ["POST", "/acme/keys", { model: ["a/b"] }, "model", 'did you mean "models"?'],
      ["POST", "/acme/keys", { expire_at: 5 }, "expire_at", 'did you mean "expires_at"?'],
      ["POST", "/acme/keys", { bugdet: {} }, "bugdet", 'did you mean "budget"?'],
      ["PATCH", `/acme/keys/${id}`, { max_rpm: 5 }, "max_rpm", "the fields here are name, expires_at, metadata, "],
      ["PATCH", `/acme/keys/${id}`, { budget: { amount: "5", peer: "day" } }, "budget.per", "one of day, week"],
      ["PATCH", "/acme", { overdraw: "5" }, "overdraw", 'did you mean "overdraft"?'],
      ["PATCH", "/acme", { balance: "5" }, "balance", "expected unlimited or prepaid; credits and adjustments"],
      ["POST", "", { id: "b", allow_bucket: [] }, "allow_bucket", 'did you mean "allow_buckets"?'],
      ["POST", "/acme/credit", { amout: "5" }, "amount", "expected"],
      ["POST", "/acme/keys", { __proto__: null, constructor: 1 }, "constructor", "no such field"],
      ["POST", "/acme/keys", { rpm: -1 }, "rpm", "expected a whole number of requests per minute from 1 to"],
      ["POST", "/acme/keys", { models: ["a/b", "gpt-*"] }, "models.1", "expected the id of a model, an alias"],
    ] as const
  ) {
    const answer = await call(method, path, body);
    assertEquals([answer.status, answer.body.error.code, answer.body.error.field], [400, "invalid_request", field]);
    assertEquals(answer.body.error.message.includes(message), true, answer.body.error.message);
  }
  assertEquals((await call("GET", "/acme/keys")).body.data.length, 1);
});

Deno.test("GET …/keys/:key shows what the limits of the key and its account have left", async () => {
  const { call, meter, clock } = await openTestAdmin();
  await call("POST", "", { id: "acme", balance: "5.00", concurrency: 3 });
  const { id } = (await call("POST", "/acme/keys", { rpm: 60, concurrency: 4 })).body;
  const minute = clock.now() / 1000;
  assertEquals((await call("GET", `/acme/keys/${id}`)).body.left, {
    key: { rpm: { left: 60, resets_at: minute }, concurrency: { left: 4 } },
    account: { concurrency: { left: 3 } },
  });
  const limits = { key: { rpm: 60, concurrency: 4 }, account: { concurrency: 3 }, expiresAt: null };
  await meter.admitFree({ keyId: id, accountId: "acme", limits });
  const { left } = (await call("GET", `/acme/keys/${id}`)).body;
  assertEquals([left.key.rpm.left, left.key.concurrency.left, left.account.concurrency.left], [59, 3, 2]);
  const unlimited = (await call("POST", "/acme/keys")).body.id;
  assertEquals((await call("GET", `/acme/keys/${unlimited}`)).body.left.key, {});
});

Deno.test("GET /:account shows what the limits of the account have left, also for all keys together", async () => {
  const { call, meter } = await openTestAdmin();
  await call("POST", "", { id: "acme", balance: "5.00", concurrency: 3, budget: { amount: "2", per: "day" } });
  await call("POST", "", { id: "free" });
  const left = async () => (await call("GET", "/acme")).body.left;
  assertEquals([(await left()).concurrency.left, (await left()).budget.left], [3, "2.0000000000"]);
  const limits = { key: {}, account: { concurrency: 3 }, expiresAt: null };
  await meter.admitFree({ keyId: "key_1", accountId: "acme", limits });
  assertEquals((await left()).concurrency.left, 2);
  assertEquals((await call("GET", "/free")).body.left, {});
});

Deno.test("GET …/keys lists the newest first with order=desc, page after page", async () => {
  const { call, clock } = await openTestAdmin();
  await call("POST", "", { id: "acme" });
  const ids: string[] = [];
  for (let count = 0; count < 5; count++) {
    ids.push((await call("POST", "/acme/keys")).body.id);
    clock.advance(1_000);
  }
  const listed: string[] = [];
  for (let after: string | null = ""; after !== null;) {
    const from: string = after === "" ? "" : `&after=${after}`;
    const { body } = await call("GET", `/acme/keys?order=desc&limit=2${from}`);
    listed.push(...body.data.map(({ id }: { id: string }) => id));
    after = body.next;
  }
  assertEquals(listed, ids.toReversed());
  assertEquals((await call("GET", "/acme/keys?limit=1")).body.data[0].id, ids[0]);
  assertEquals((await call("GET", "/acme/keys?order=up")).body.error.field, "order");
});

Deno.test("POST …/keys/:key/rotate issues a key with the same settings and revokes the one before at once", async () => {
  const { call, keys, clock } = await openTestAdmin();
  await call("POST", "", { id: "acme" });
  const settings = { name: "ci", rpm: 5, models: ["acme/*"], metadata: { team: "search" }, expires_at: "2999-01-01" };
  const { secret: old, ...before } = (await call("POST", "/acme/keys", settings)).body;
  await keys.resolve(old);
  clock.advance(1_000);
  const { status, body: { secret, replaced, ...key } } = await call("POST", `/acme/keys/${before.id}/rotate`);
  assertEquals(status, 201);
  const { id, prefix, created_at } = key;
  assertEquals(key, { ...before, id, prefix, created_at });
  assertEquals([id === before.id, prefix === before.prefix, created_at], [false, false, clock.now() / 1000]);
  assertEquals(replaced, { ...before, last_used_at: replaced.last_used_at, revoked_at: clock.now() / 1000 });
  assertEquals((await Promise.try(() => keys.resolve(secret))).keyId, id);
  assertEquals(await Promise.try(() => keys.resolve(old)).catch((error) => error.code), "invalid_api_key");
  assertEquals((await call("POST", `/acme/keys/${before.id}/rotate`)).status, 409);
});

Deno.test("POST …/keys/:key/rotate with an overlap leaves the key before valid until its end", async () => {
  const { call, keys, clock } = await openTestAdmin();
  await call("POST", "", { id: "acme" });
  const { id, secret: old } = (await call("POST", "/acme/keys")).body;
  assertEquals((await call("POST", `/acme/keys/${id}/rotate`, { overlap: -1 })).body.error.field, "overlap");
  const { replaced } = (await call("POST", `/acme/keys/${id}/rotate`, { overlap: 60 })).body;
  assertEquals([replaced.revoked_at, replaced.expires_at], [null, clock.now() / 1000 + 60]);
  assertEquals((await Promise.try(() => keys.resolve(old))).keyId, id);
  clock.advance(60_000);
  assertEquals(await Promise.try(() => keys.resolve(old)).catch((error) => error.code), "invalid_api_key");
  assertEquals((await call("POST", "/acme/keys/key_1/rotate")).status, 404);
});

Deno.test("accounts and keys answer 400 to capture where the configuration keeps no bodies", async () => {
  const { call } = await openTestAdmin({ noBodiesReason: '"request_log.capture" is not set' });
  await call("POST", "", { id: "acme", capture: "none" });
  const { id } = (await call("POST", "/acme/keys", { capture: "none" })).body;
  const message = 'Cannot read "capture": expected none, as no bodies are kept: "request_log.capture" is not set';
  for (
    const [method, path, body] of [
      ["POST", "", { id: "zeta", capture: "all" }],
      ["PATCH", "/acme", { capture: "errors" }],
      ["POST", "/acme/keys", { capture: "errors" }],
      ["PATCH", `/acme/keys/${id}`, { capture: "all" }],
    ] as const
  ) {
    const refused = await call(method, path, body);
    assertEquals([refused.status, refused.body.error], [400, { code: "invalid_request", message, field: "capture" }]);
  }
  assertEquals((await call("GET", "/zeta")).status, 404);
  assertEquals((await call("PATCH", "/acme", { capture: null })).status, 200);
});
