import { assertEquals } from "@std/assert";
import { silentLog } from "../../src/platform/lib/basics/log.ts";
import { FailingProviders } from "../../src/services/notifications/failing_providers.ts";
import { type ProviderHealth, unusedHealthOf } from "../../src/vendors/routing/provider_health.ts";
import type { StoreEngine } from "../../src/platform/store/engine.ts";
import { openDeliveryAdmin } from "../../src/services/webhooks/delivery_admin.ts";
import { ManualClock } from "../support/manual_clock.ts";
import { openMemoryStore } from "../support/memory_store.ts";

const MINUTE_MS = 60_000;

/** A process whose provider has the state that a test sets. */
function processOver(store: StoreEngine, clock: ManualClock) {
  const health: { state: ProviderHealth["state"] } = { state: "ready" };
  const failing = new FailingProviders({
    store,
    log: silentLog,
    clock,
    config: () => ({ url: "https://receiver.example/ops", secret: "operator-secret", balanceLow: [] }),
    health: () => [{ ...unusedHealthOf("acme"), state: health.state }],
  });
  return { failing, health };
}

async function eventsOf(store: StoreEngine): Promise<number> {
  const range = { state: null, from: 0, to: Number.MAX_SAFE_INTEGER };
  return (await openDeliveryAdmin(store).list(range, { after: null, limit: 100, reverse: false })).deliveries.length;
}

/** Moves the time in steps, so that what a timer starts ends before the next one. */
async function pass(clock: ManualClock, byMs: number): Promise<void> {
  for (let passed = 0; passed < byMs; passed += 1_000) {
    clock.advance(1_000);
    await new Promise((resolve) => setTimeout(resolve, 0));
  }
}

Deno.test("provider.failing is one event for an outage that two processes find, and another for the next one", async () => {
  const clock = new ManualClock();
  const store = await openMemoryStore({ clock });
  const [first, second] = [processOver(store, clock), processOver(store, clock)];
  for (const { failing, health } of [first, second]) {
    health.state = "resting";
    failing.noteFailure();
  }
  await pass(clock, MINUTE_MS);
  assertEquals(await eventsOf(store), 1);
  first.health.state = "ready";
  await pass(clock, 30 * MINUTE_MS);
  assertEquals(await eventsOf(store), 1, "it is renewed while one process finds it");
  second.health.state = "ready";
  await pass(clock, 17 * MINUTE_MS);
  second.health.state = "misconfigured";
  second.failing.noteFailure();
  await pass(clock, MINUTE_MS);
  assertEquals(await eventsOf(store), 2);
  await Promise.all([first.failing.stop(), second.failing.stop()]);
  assertEquals(clock.waiting, 0);
  await store.close();
});

Deno.test("a single failure, and a credential that a probe finds rejected later, are told apart", async () => {
  const clock = new ManualClock();
  const store = await openMemoryStore({ clock });
  const { failing, health } = processOver(store, clock);
  failing.noteFailure();
  await pass(clock, 2_000);
  health.state = "misconfigured";
  await pass(clock, 5_000);
  assertEquals(await eventsOf(store), 0);
  await pass(clock, 20_000);
  assertEquals(await eventsOf(store), 1);
  health.state = "degraded";
  await pass(clock, 2 * MINUTE_MS);
  assertEquals(clock.waiting, 0, "nothing is looked at without a failure");
  await failing.stop();
  await store.close();
});
