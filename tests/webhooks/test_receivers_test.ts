import { assertEquals, assertRejects, assertThrows } from "@std/assert";
import { createAccount } from "../../src/money/billing/accounts/account.ts";
import { readWebhookSecrets } from "../../src/money/billing/accounts/webhook_secret.ts";
import { GatewayError } from "../../src/platform/lib/basics/gateway_error.ts";
import { signedHeaders } from "../../src/services/webhooks/signature.ts";
import { TestReceivers } from "../../src/services/webhooks/test_receivers.ts";
import { ManualClock } from "../support/manual_clock.ts";
import { openMemoryStore } from "../support/memory_store.ts";

const BODY = new TextEncoder().encode("{}");

async function openReceivers() {
  const clock = new ManualClock();
  const store = await openMemoryStore({ clock });
  await createAccount(store, { id: "acme", balance: 0n, settings: {} });
  const receivers = new TestReceivers({ store, clock, baseUrl: () => "https://gateway.example" });
  const { id, url } = await receivers.open("acme", 10);
  const secrets = await readWebhookSecrets(store, "acme");
  const send = (headers: Record<string, string>) => receivers.receive(id, { headers, body: BODY, via: "network" });
  return { clock, receivers, id, url, secrets, send };
}

Deno.test("a receiver closes by itself, and then takes and shows nothing", async () => {
  const { clock, receivers, id, url, send } = await openReceivers();
  assertEquals([receivers.idAt(url), receivers.idAt(`${url}/`)], [id, null]);
  clock.advance(10 * 60_000);
  assertEquals([receivers.idAt(url), receivers.isOpen(id), receivers.list()], [null, false, []]);
  await assertRejects(() => send({}), GatewayError);
  assertThrows(() => receivers.read(id), GatewayError);
});

Deno.test("a receiver checks both signatures and the time, as receivers of the account do", async () => {
  const { clock, receivers, id, secrets, send } = await openReceivers();
  const headers = signedHeaders({ idempotencyKey: "t-completed", body: BODY, sentAt: clock.now() }, secrets);
  await send(headers);
  const { "x-service-signature": _own, ...standard } = headers;
  await send(standard);
  await send({ ...headers, "webhook-signature": "v1,AAAA" });
  await send({ ...headers, "x-service-signature": "AAAA" });
  clock.advance(301_000);
  await send(headers);
  const { events } = receivers.read(id);
  assertEquals(events.map(({ problem }) => problem).toReversed(), [
    null,
    null,
    "Webhook-Signature is not that of the account's secret",
    "X-Service-Signature is not that of the account's secret",
    "Webhook-Timestamp is more than five minutes away",
  ]);
});

Deno.test("a receiver keeps the last 20 events, and takes 1,000", async () => {
  const { receivers, id, send } = await openReceivers();
  for (let count = 0; count < 1_000; count++) await send({});
  const { events } = receivers.read(id);
  assertEquals([events.length, events[0]?.number, events.at(-1)?.number], [20, 1_000, 981]);
  const refused = await assertRejects(() => send({}), GatewayError);
  assertEquals(refused.code, "rate_limited");
});
