/**
 * A process to be killed. It delivers the pending events of the store in its argument on a fast clock. It reports when
 * it has started and when no event is pending.
 */
import { silentLog } from "../../src/platform/lib/basics/log.ts";
import { openKvStore } from "../../src/platform/store/kv/open_kv_store.ts";
import { createWebhooks } from "../../src/services/webhooks/webhooks.ts";
import { atLeast } from "../support/items.ts";
import { fastClock } from "./fast_clock.ts";
import { LOOPBACK } from "./receiver.ts";

const [path, startMs, speed] = atLeast(Deno.args, 1);
const clock = fastClock(Number(startMs), Number(speed));
const store = await openKvStore({ path, clock, log: silentLog });
const webhooks = createWebhooks({
  store,
  clock,
  log: silentLog,
  egress: { ...LOOPBACK, clock },
  timeoutMs: 10_000,
  random: Math.random,
});
const runner = webhooks.startJobs();
console.log("begun");
const pending = { state: "pending", from: 0, to: Number.MAX_SAFE_INTEGER } as const;
while ((await webhooks.deliveries.list(pending, { after: null, limit: 1, reverse: false })).deliveries.length > 0) {
  await new Promise((resolve) => setTimeout(resolve, 20));
}
await runner.drain(0);
await store.close();
console.log("done");
