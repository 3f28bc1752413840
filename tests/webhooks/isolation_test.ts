import { assertEquals } from "@std/assert";
import { createAccount } from "../../src/money/billing/accounts/account.ts";
import { systemClock } from "../../src/platform/lib/basics/clock.ts";
import { silentLog } from "../../src/platform/lib/basics/log.ts";
import { openKvStore } from "../../src/platform/store/kv/open_kv_store.ts";
import { createWebhooks } from "../../src/services/webhooks/webhooks.ts";
import { openMemoryStore } from "../support/memory_store.ts";
import { ManualClock, until } from "../support/manual_clock.ts";
import { end, endedTask, SECRET, settled } from "./support.ts";

/** Number of deliveries that are never acknowledged. */
const DEAD = 2_000;

Deno.test("events for a healthy host are delivered while thousands wait for a host that hangs", async () => {
  const store = await openKvStore({ path: ":memory:", clock: systemClock, log: silentLog });
  await createAccount(store, { id: "demo", balance: 0n, webhookSecret: SECRET });
  let hanging = 0;
  let max = 0;
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
      max = Math.max(max, ++hanging);
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
  assertEquals([hanging, max], [2, 2], "no hanging attempt has ended: nothing made room for the healthy host");
  await until(() => runner.running < 400); // two that hang and a queue; all others are job records
  await runner.drain(0);
  await store.close();
});

/** A gateway whose receivers never respond, except addresses with `good` in them. */
async function gateway() {
  const clock = new ManualClock();
  const store = await openMemoryStore({ clock });
  for (const id of ["a", "b"]) await createAccount(store, { id, balance: 0n, webhookSecret: SECRET });
  const seen = { delivered: 0, hanging: 0, max: 0 };
  const webhooks = createWebhooks({
    store,
    clock,
    log: silentLog,
    egress: { allow: [], own: [], clock },
    timeoutMs: 10_000,
    random: () => 0,
    post: (url, { signal }) => {
      if (url.includes("good")) {
        seen.delivered++;
        return Promise.resolve({ status: 204, bytes: 0, header: () => null });
      }
      seen.max = Math.max(seen.max, ++seen.hanging);
      return new Promise((_, reject) => signal.addEventListener("abort", () => reject(new Error("given up"))));
    },
  });
  const addEvent = (account: string, callbackUrl: string) =>
    end({ store, webhooks }, endedTask({ account, callbackUrl, endedAt: clock.now() }));
  return { seen, addEvent, runner: webhooks.startJobs(), store };
}

type Url = (n: number) => string;
const HANGING: readonly { readonly what: string; readonly url: Url; readonly good: Url; readonly account: string }[] = [
  {
    what: "another account on the same host",
    url: () => "https://hooks.example/a?key=1",
    good: () => "https://hooks.example/good",
    account: "b",
  },
  {
    what: "another account on the same path",
    url: () => "https://hooks.example/hook",
    good: () => "https://hooks.example/hook?good",
    account: "b",
  },
  {
    what: "the same account's other path on the host",
    url: () => "https://hooks.example/a",
    good: () => "https://hooks.example/good",
    account: "a",
  },
  {
    what: "another account while paths hang that are new each time",
    url: (n) => `https://hooks.example/a/${n}`,
    good: (n) => `https://hooks.example/good/${n}`,
    account: "b",
  },
  {
    what: "another account while a thousand hosts hang",
    url: (n) => `https://host${n}.example/a`,
    good: (n) => `https://good${n}.example/`,
    account: "b",
  },
];

for (const { what, url, good, account } of HANGING) {
  Deno.test(`no event waits for a hanging receiver: ${what}`, async () => {
    const { seen, addEvent, runner, store } = await gateway();
    for (let n = 0; n < 1_000; n++) await addEvent("a", url(n));
    await until(() => seen.hanging > 0);
    for (let n = 0; n < 10; n++) await addEvent(account, good(n));
    await until(() => seen.delivered === 10); // no attempt has ended meanwhile: no place became free
    await runner.drain(0);
    await store.close();
  });
}

Deno.test("a host gets at most twenty concurrent attempts, for any number of accounts with hanging receivers", async () => {
  const { seen, addEvent, runner, store } = await gateway();
  for (let n = 0; n < 50; n++) await createAccount(store, { id: `c${n}`, balance: 0n, webhookSecret: SECRET });
  for (let n = 0; n < 500; n++) await addEvent(`c${n % 50}`, `https://hooks.example/${n}`);
  await until(() => seen.hanging === 20);
  for (let n = 0; n < 20; n++) await settled();
  assertEquals(seen.max, 20);
  await runner.drain(0);
  await store.close();
});
