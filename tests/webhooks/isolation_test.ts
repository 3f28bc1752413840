import { assertEquals } from "@std/assert";
import { createAccount } from "../../src/billing/account.ts";
import { systemClock } from "../../src/lib/clock.ts";
import { silentLog } from "../../src/lib/log.ts";
import { openKvStore } from "../../src/store/kv.ts";
import { createWebhooks } from "../../src/webhooks/webhooks.ts";
import { until } from "../support/manual_clock.ts";
import { end, endedTask, SECRET } from "./support.ts";

/** Deliveries that nobody acknowledges. */
const DEAD = 2_000;

Deno.test("events for a healthy host go out although thousands wait for a host that hangs", async () => {
  const store = await openKvStore({ path: ":memory:", clock: systemClock, log: silentLog });
  await createAccount(store, { id: "demo", balance: 0n, webhookSecret: SECRET });
  let hanging = 0;
  let most = 0;
  let delivered = 0;
  const webhooks = createWebhooks({
    store,
    clock: systemClock,
    log: silentLog,
    egress: { allow: [], own: [] },
    timeoutMs: 10_000,
    random: Math.random,
    post: (url, { signal }) => {
      if (url.includes("healthy")) {
        delivered++;
        return Promise.resolve({ status: 204, bytes: 0, header: () => null });
      }
      most = Math.max(most, ++hanging);
      return new Promise((_, reject) => {
        signal.addEventListener("abort", () => {
          hanging--;
          reject(new Error("given up"));
        });
      });
    },
  });
  const runner = webhooks.startJobs();
  const dead = Array.from(
    { length: DEAD },
    () => end({ store, webhooks }, endedTask({ endedAt: Date.now(), callbackUrl: "https://dead.example/" })),
  );
  await Promise.all(dead);
  for (let n = 0; n < 10; n++) {
    await end({ store, webhooks }, endedTask({ endedAt: Date.now(), callbackUrl: "https://healthy.example/" }));
  }
  await until(() => delivered === 10);
  assertEquals([hanging, most], [20, 20], "no hanging attempt has ended: nothing made room for the healthy host");
  await until(() => runner.running < 150); // twenty that hang, a line of a hundred; all others are job records
  await runner.drain(0);
  await store.close();
});
