import { assertEquals, assertNotEquals, assertRejects } from "@std/assert";
import { createAccount } from "../../src/money/billing/accounts/account.ts";
import {
  newWebhookSecret,
  readWebhookSecrets,
  rotateWebhookSecret,
} from "../../src/money/billing/accounts/webhook_secret.ts";
import { GatewayError } from "../../src/platform/lib/basics/gateway_error.ts";
import { openMemoryStore } from "../support/memory_store.ts";
import { manualClock, observeStore } from "./support.ts";

Deno.test("newWebhookSecret() is whsec_ and 32 bytes in base64, different each time", () => {
  const secret = newWebhookSecret();
  assertEquals(atob(secret.slice("whsec_".length)).length, 32);
  assertNotEquals(newWebhookSecret(), secret);
});

Deno.test("rotateWebhookSecret() keeps the previous secret for a day and no longer", async () => {
  const clock = manualClock();
  const store = await openMemoryStore({ clock });
  const { webhookSecret: first } = await createAccount(store, { id: "acme" });
  assertEquals(await readWebhookSecrets(store, "acme"), [first]);
  const second = await rotateWebhookSecret(store, "acme");
  clock.advance(24 * 3_600_000 - 1);
  assertEquals(await readWebhookSecrets(store, "acme"), [second, first]);
  clock.advance(1);
  assertEquals(await readWebhookSecrets(store, "acme"), [second]);
});

Deno.test("an unknown account has no webhook secrets and cannot rotate them", async () => {
  const store = await openMemoryStore({ clock: manualClock() });
  assertEquals(await readWebhookSecrets(store, "nobody"), []);
  assertEquals((await assertRejects(() => rotateWebhookSecret(store, "nobody"), GatewayError)).code, "not_found");
});

Deno.test("rotateWebhookSecret() retries when another rotation was first", async () => {
  const inner = await openMemoryStore({ clock: manualClock() });
  const store = observeStore(inner);
  await createAccount(inner, { id: "acme" });
  let other: string | null = null;
  store.afterGet = async () => {
    other ??= await rotateWebhookSecret(inner, "acme");
  };
  const secret = await rotateWebhookSecret(store, "acme");
  assertEquals(await readWebhookSecrets(inner, "acme"), [secret, other]);
});
