import { assertEquals, assertMatch, assertNotEquals } from "@std/assert";
import { readWebhookSecrets } from "../../../src/money/billing/accounts/webhook_secret.ts";
import { openTestAdmin } from "./support.ts";
import { unlimitedKey } from "../../support/callers.ts";

Deno.test("POST /admin/v1/accounts answers 201 with the balance and, only this time, the webhook secret", async () => {
  const { call, clock } = await openTestAdmin();
  const { status, headers, body } = await call("POST", "", { id: "acme", balance: "25.00" });
  const { webhook_secret: secret, ...account } = body;
  assertEquals([status, headers.get("cache-control")], [201, "no-store"]);
  assertMatch(secret, /^whsec_/);
  assertEquals(account, {
    id: "acme",
    name: null,
    status: "active",
    created_at: clock.now() / 1000,
    allow_buckets: [],
    balance: "25.0000000000",
    held: "0.0000000000",
    notification_url: null,
    webhook_format: "service",
    overdraft: "0.0000000000",
    unlimited: false,
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
    capture: "none",
    prompt_caching: "auto",
  });
  assertEquals((await call("GET", "/acme")).body, {
    ...account,
    left: {},
    forecast: { spent_per_day: "0.0000000000", lasts_until: null },
  });
});

Deno.test("POST /admin/v1/accounts answers 400 naming the field, and 409 for an existing id", async () => {
  const { call } = await openTestAdmin();
  const mistakes: [unknown, string][] = [
    [{}, "id"],
    [{ id: "" }, "id"],
    [{ id: "a/b" }, "id"],
    [{ id: "a".repeat(1024) }, "id"],
    [{ id: 7 }, "id"],
    [{ id: "acme", balance: "-1" }, "balance"],
    [{ id: "acme", balance: 25 }, "balance"],
    [{ id: "acme", webhook_secret: "" }, "webhook_secret"],
    [{ id: "acme", colour: "red" }, "colour"],
    [[], "body"],
  ];
  for (const [sent, field] of mistakes) {
    const { status, body } = await call("POST", "", sent);
    assertEquals([status, body.error.code, body.error.field], [400, "invalid_request", field]);
  }
  assertEquals((await call("POST", "", { id: 7 })).body.error.message, 'Cannot read "id": expected a string');
  assertEquals((await call("POST", "", { id: "acme" })).status, 201);
  const { status, body } = await call("POST", "", { id: "acme" });
  assertEquals([status, body.error.code], [409, "conflict"]);
});

Deno.test("GET /admin/v1/accounts lists all accounts page by page", async () => {
  const { call } = await openTestAdmin();
  for (const id of ["b", "a", "c"]) await call("POST", "", { id });
  const first = (await call("GET", "?limit=2")).body;
  assertEquals([first.data.map(({ id }: { id: string }) => id), first.next], [["a", "b"], "b"]);
  const second = (await call("GET", `?limit=2&after=${first.next}`)).body;
  assertEquals([second.data.map(({ id }: { id: string }) => id), second.next], [["c"], null]);
});

Deno.test("lists answer 400 to an invalid limit or cursor", async () => {
  const { call } = await openTestAdmin();
  for (
    const query of ["limit=0", "limit=101", "limit=-1", "limit=1.5", "limit=", "limit=ten", `limit=${"9".repeat(400)}`]
  ) {
    assertEquals((await call("GET", `?${query}`)).body.error.field, "limit");
  }
  for (const after of ["", "%00", "a".repeat(2000)]) {
    assertEquals((await call("GET", `?after=${after}`)).body.error.field, "after");
  }
});

Deno.test("POST …/credit credits once for each reference and returns the new balance", async () => {
  const { call } = await openTestAdmin();
  await call("POST", "", { id: "acme" });
  const first = await call("POST", "/acme/credit", { amount: "10.5", reference: "invoice-1" });
  assertEquals([first.status, first.body.balance, first.body.replayed], [200, "10.5000000000", false]);
  const again = await call("POST", "/acme/credit", { amount: "10.50", reference: "invoice-1" });
  assertEquals([again.body.balance, again.body.replayed, again.body.reference], ["10.5000000000", true, "invoice-1"]);
  const other = await call("POST", "/acme/credit", { amount: "11", reference: "invoice-1" });
  assertEquals([other.status, other.body.error.field], [409, "reference"]);
});

Deno.test("POST …/credit answers 400 to amounts that are invalid, negative, zero, too precise or too large", async () => {
  const { call } = await openTestAdmin();
  await call("POST", "", { id: "acme" });
  for (const amount of ["-1", "NaN", "0.00000000001", "1e30", "0", "", "10000001", " 1", 1, null, -1, undefined]) {
    const { status, body } = await call("POST", "/acme/credit", { amount });
    assertEquals([status, body.error.code, body.error.field], [400, "invalid_request", "amount"]);
  }
  for (const reference of ["", "a b", 7]) {
    assertEquals((await call("POST", "/acme/credit", { amount: "1", reference })).body.error.field, "reference");
  }
  assertEquals((await call("GET", "/acme")).body.balance, "0.0000000000");
});

Deno.test("POST …/credit allows the next call of the account", async () => {
  const { call, meter } = await openTestAdmin();
  await call("POST", "", { id: "acme" });
  await Promise.resolve(meter.admit(unlimitedKey("acme"), 1n)).catch(() => {});
  await call("POST", "/acme/credit", { amount: "1" });
  (await meter.admit(unlimitedKey("acme"), 1n)).release();
});

Deno.test("POST …/suspend rejects the account's keys at once, and …/resume accepts them again", async () => {
  const { call, keys } = await openTestAdmin();
  await call("POST", "", { id: "acme" });
  const { secret } = (await call("POST", "/acme/keys")).body;
  await keys.resolve(secret);
  assertEquals((await call("POST", "/acme/suspend")).body.status, "suspended");
  assertEquals(await Promise.try(() => keys.resolve(secret)).catch((error) => error.code), "invalid_api_key");
  assertEquals((await call("POST", "/acme/resume")).body.status, "active");
  assertEquals((await keys.resolve(secret)).accountId, "acme");
});

Deno.test("POST …/webhook-secret returns a new secret and keeps the old one valid for a while", async () => {
  const { call, store } = await openTestAdmin();
  const { webhook_secret: first } = (await call("POST", "", { id: "acme" })).body;
  const { webhook_secret: second } = (await call("POST", "/acme/webhook-secret")).body;
  assertNotEquals(second, first);
  assertEquals(await readWebhookSecrets(store, "acme"), [second, first]);
});

Deno.test("every endpoint of an account answers 404 for an unknown account", async () => {
  const { call } = await openTestAdmin();
  const endpoints: [string, string, unknown?][] = [
    ["GET", ""],
    ["POST", "/credit", { amount: "1" }],
    ["POST", "/adjust", { amount: "1", reason: "goodwill" }],
    ["POST", "/suspend"],
    ["POST", "/resume"],
    ["POST", "/webhook-secret"],
    ["POST", "/keys"],
    ["GET", "/keys"],
    ["DELETE", "/keys/key_1"],
    ["GET", "/ledger"],
  ];
  for (const [method, path, sent] of endpoints) {
    for (const id of ["nobody", "a%2Fb", "a".repeat(3000)]) {
      const { status, body } = await call(method, `/${id}${path}`, sent);
      assertEquals([status, body.error.code], [404, "not_found"]);
    }
  }
});
