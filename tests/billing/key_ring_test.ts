import { assert, assertEquals, assertRejects, assertThrows } from "@std/assert";
import {
  changeAccountSettings,
  createAccount,
  resumeAccount,
  suspendAccount,
} from "../../src/money/billing/accounts/account.ts";
import { hashOfKey, newApiKey } from "../../src/money/billing/keys/api_key.ts";
import { changeKey, issueKey, listKeys, revokeKey } from "../../src/money/billing/keys/issued_key.ts";
import { createKeyRing } from "../../src/money/billing/keys/key_ring.ts";
import { GatewayError } from "../../src/platform/lib/basics/gateway_error.ts";
import { openMemoryStore } from "../support/memory_store.ts";
import { itemAt } from "../support/items.ts";
import { eventLoopTurn, manualClock, observeStore } from "./support.ts";

async function ringWithKey() {
  const clock = manualClock();
  const store = observeStore(await openMemoryStore({ clock }));
  await createAccount(store, { id: "acme" });
  const { key, secret } = await issueKey(store, "acme");
  const ring = createKeyRing({ store, clock });
  store.reads = 0;
  return { clock, store, key, secret, ring, owner: { keyId: key.id, accountId: "acme", limits: null, capture: null } };
}

/** The refusal of a secret, thrown or as a rejection. */
async function refusalOf(resolve: () => unknown): Promise<{ code: string; message: string }> {
  const { code, message } = await assertRejects(async () => await resolve(), GatewayError);
  return { code, message };
}

Deno.test("a key ring resolves a key as a promise first, then at once and without a read for five seconds", async () => {
  const { ring, secret, owner, store, clock } = await ringWithKey();
  assertEquals(await ring.resolve(secret), owner);
  const reads = store.reads;
  clock.advance(4_999);
  assertEquals(ring.resolve(secret), owner);
  assertEquals(store.reads, reads);
  clock.advance(1);
  assert(ring.resolve(secret) instanceof Promise);
});

Deno.test("a key ring tells who has a secret why it is refused, and tells nobody else", async () => {
  const { ring, secret, store, key, clock } = await ringWithKey();
  const unknown = await refusalOf(() => ring.resolve(newApiKey()));
  assertEquals(unknown.code, "invalid_api_key");
  assertEquals(await refusalOf(() => ring.resolve(secret.slice(0, -1) + (secret.endsWith("0") ? "1" : "0"))), unknown);
  assertEquals(await refusalOf(() => ring.resolve("a".repeat(1_000_000))), unknown);
  const refused = async (why: string) => {
    const expected = { code: "invalid_api_key", message: `Cannot accept the API key: ${why}` };
    assertEquals(await refusalOf(() => ring.resolve(secret)), expected);
    assertEquals(await refusalOf(() => ring.resolve(secret)), expected); // from the cache
    ring.evictAccount("acme");
  };
  await suspendAccount(store, "acme");
  await refused("its account is suspended");
  await resumeAccount(store, "acme");
  await changeKey(store, "acme", key.id, { expires_at: store.now() + 1_000 });
  assertEquals((await ring.resolve(secret)).keyId, key.id);
  clock.advance(1_000);
  await refused("it has expired");
  await revokeKey(store, "acme", key.id);
  await refused("it was revoked");
});

Deno.test("a key ring refuses what cannot be a key without a look-up", async () => {
  const { ring, secret, store } = await ringWithKey();
  const forged = secret.slice(0, 20) + (secret[20] === "a" ? "b" : "a") + secret.slice(21);
  for (const text of [forged, "", "short", "a".repeat(1_000_000), "nul\0nul\0nul\0nul\0", "ключ".repeat(8)]) {
    assertThrows(() => ring.resolve(text), GatewayError);
  }
  assertEquals(store.reads, 0);
});

Deno.test("a key ring remembers for a second that a key is unknown", async () => {
  const { ring, store, clock } = await ringWithKey();
  const secret = newApiKey();
  await refusalOf(() => ring.resolve(secret));
  const reads = store.reads;
  assertThrows(() => ring.resolve(secret), GatewayError);
  clock.advance(999);
  assertThrows(() => ring.resolve(secret), GatewayError);
  assertEquals(store.reads, reads);
  clock.advance(1);
  await refusalOf(() => ring.resolve(secret));
  assertEquals(store.reads > reads, true);
});

Deno.test("a key ring asks the store once for callers that come together", async () => {
  const { ring, secret, owner, store } = await ringWithKey();
  const answers = await Promise.all(Array.from({ length: 50 }, () => ring.resolve(secret)));
  assertEquals(answers, Array(50).fill(owner));
  assertEquals(store.reads, 2);
});

Deno.test("a key revoked through the ring is refused at once, one revoked elsewhere within five seconds", async () => {
  const { ring, secret, owner, store, clock, key } = await ringWithKey();
  const elsewhere = createKeyRing({ store, clock });
  await ring.resolve(secret);
  await elsewhere.resolve(secret);
  await ring.revoke("acme", key.id);
  await refusalOf(() => ring.resolve(secret));
  assertEquals(elsewhere.resolve(secret), owner);
  clock.advance(5_000);
  await refusalOf(() => elsewhere.resolve(secret));
});

Deno.test("a look-up that began before a revocation is neither remembered nor joined after it", async () => {
  const { ring, secret, owner, store, key } = await ringWithKey();
  const held = Promise.withResolvers<void>();
  let gets = 0;
  store.afterGet = () => ++gets === 2 ? held.promise : undefined;
  const before = ring.resolve(secret);
  while (gets < 2) await eventLoopTurn();
  await ring.revoke("acme", key.id);
  await refusalOf(() => ring.resolve(secret));
  held.resolve();
  assertEquals(await before, owner);
  await refusalOf(() => ring.resolve(secret));
});

Deno.test("forgetAccount() makes a suspension and its end hold at once", async () => {
  const { ring, secret, owner, store } = await ringWithKey();
  await ring.resolve(secret);
  await suspendAccount(store, "acme");
  ring.evictAccount("acme");
  await refusalOf(() => ring.resolve(secret));
  await resumeAccount(store, "acme");
  ring.evictAccount("acme");
  assertEquals(await ring.resolve(secret), owner);
});

Deno.test("a flood of guesses pushes no caller out of the ring", async () => {
  const { ring, secret, owner, store } = await ringWithKey();
  await ring.resolve(secret);
  for (let i = 0; i < 10_050; i++) await refusalOf(() => ring.resolve(`guess-guess-guess-${i}`));
  const reads = store.reads;
  assertEquals(ring.resolve(secret), owner);
  await refusalOf(() => ring.resolve("guess-guess-guess-0"));
  assertEquals(store.reads, reads + 1, "the oldest guesses are forgotten");
});

Deno.test("a store that fails refuses nobody for ever", async () => {
  const { ring, secret, owner, store } = await ringWithKey();
  store.afterGet = () => {
    throw new Error("disk is gone");
  };
  await assertRejects(async () => await ring.resolve(secret), Error, "disk is gone");
  store.afterGet = () => {};
  assertEquals(await ring.resolve(secret), owner);
});

Deno.test("the use of a key is recorded at most once an hour", async () => {
  const { ring, secret, store, clock } = await ringWithKey();
  const lastUsedAt = async () => itemAt((await listKeys(store, "acme", { limit: 1 })).keys, 0).lastUsedAt;
  assertEquals(await lastUsedAt(), null);
  const first = clock.now();
  for (let minutes = 0; minutes < 60; minutes++) {
    await ring.resolve(secret);
    clock.advance(60_000);
  }
  assertEquals(await lastUsedAt(), first);
  await ring.resolve(secret);
  await eventLoopTurn();
  assertEquals(await lastUsedAt(), first + 3_600_000);
});

Deno.test("issueKey() stores the hash and the first characters, never the secret", async () => {
  const { secret, key, store } = await ringWithKey();
  const stored = JSON.stringify(await Promise.all(["billing"].map((part) => store.scan([part], { limit: 100 }))));
  assert(!stored.includes(secret));
  assert(!stored.includes(secret.slice(0, 20)));
  assert(stored.includes(hashOfKey(secret)));
  assertEquals(key.prefix, secret.slice(0, 12));
  assertEquals("hash" in key, false);
});

Deno.test("issueKey() and revokeKey() know only keys and accounts that exist", async () => {
  const { store, key } = await ringWithKey();
  await createAccount(store, { id: "other" });
  assertEquals((await refusalOf(() => issueKey(store, "nobody"))).code, "not_found");
  for (const id of ["key_0", "a".repeat(5000), ""]) {
    assertEquals((await refusalOf(() => revokeKey(store, "acme", id))).code, "not_found");
  }
  assertEquals((await refusalOf(() => revokeKey(store, "other", key.id))).code, "not_found");
  const revoked = await revokeKey(store, "acme", key.id);
  assertEquals(await revokeKey(store, "acme", key.id), revoked);
});

Deno.test("listKeys() gives every key of the account once, oldest first", async () => {
  const { store, key } = await ringWithKey();
  const second = (await issueKey(store, "acme")).key;
  await createAccount(store, { id: "acme2" });
  await issueKey(store, "acme2");
  const page = await listKeys(store, "acme", { limit: 1 });
  assertEquals(page, { keys: [key], next: key.id });
  assertEquals(await listKeys(store, "acme", { limit: 1, after: key.id }), { keys: [second], next: null });
});

Deno.test("a key ring gives the limits of the key and of its account, and the changed ones after an eviction", async () => {
  const { ring, secret, store, key } = await ringWithKey();
  await ring.resolve(secret);
  await changeKey(store, "acme", key.id, { rpm: 60, models: ["openai/*"] });
  await changeAccountSettings(store, "acme", { rpm: 90 });
  ring.evictAccount("acme");
  assertEquals((await ring.resolve(secret)).limits, {
    key: { rpm: 60, models: ["openai/*"] },
    account: { rpm: 90 },
    expiresAt: null,
  });
  await changeKey(store, "acme", key.id, { rpm: null, models: null });
  await changeAccountSettings(store, "acme", { rpm: null });
  ring.evictAccount("acme");
  assertEquals((await ring.resolve(secret)).limits, null);
});

Deno.test("a key ring refuses an expired key, from a cached result and without a read", async () => {
  const { ring, secret, store, key, clock } = await ringWithKey();
  await changeKey(store, "acme", key.id, { expires_at: clock.now() + 2_000 });
  ring.evictAccount("acme");
  await ring.resolve(secret);
  const reads = store.reads;
  clock.advance(1_999);
  ring.resolve(secret);
  clock.advance(1);
  const refusal = await refusalOf(() => ring.resolve(secret));
  assertEquals(store.reads, reads);
  clock.advance(10_000);
  assertEquals(await refusalOf(() => ring.resolve(secret)), refusal);
});
