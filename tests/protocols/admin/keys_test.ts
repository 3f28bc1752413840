import { assertEquals, assertMatch } from "@std/assert";
import { eventLoopTurn } from "../../billing/support.ts";
import { openTestAdmin } from "./support.ts";

Deno.test("POST …/keys returns the secret once, and lists never do", async () => {
  const { call, clock } = await openTestAdmin();
  await call("POST", "", { id: "acme" });
  const { status, body: { secret, ...key } } = await call("POST", "/acme/keys");
  assertEquals(status, 201);
  assertMatch(secret, /^sk-sy-[0-9A-Za-z]{49}$/);
  assertEquals(key, {
    id: key.id,
    account: "acme",
    prefix: secret.slice(0, 12),
    created_at: clock.now() / 1000,
    last_used_at: null,
    revoked_at: null,
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
