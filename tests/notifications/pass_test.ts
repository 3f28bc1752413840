import { assertEquals, assertRejects } from "@std/assert";
import { adjustAccount } from "../../src/money/billing/accounts/adjustment.ts";
import { changeAccountSettings, createAccount } from "../../src/money/billing/accounts/account.ts";
import { creditAccount } from "../../src/money/billing/accounts/credit.ts";
import { readMoney } from "../../src/platform/lib/basics/money.ts";
import { announce } from "../../src/services/notifications/announce.ts";
import { runPass } from "../../src/services/notifications/run_pass.ts";
import { changedEngine } from "../../src/platform/store/changed_store.ts";
import { openDeliveryAdmin } from "../../src/services/webhooks/delivery_admin.ts";
import { ManualClock } from "../support/manual_clock.ts";
import { openMemoryStore } from "../support/memory_store.ts";
import { ALL, deliveriesOf, PAGE, partsOver } from "./support.ts";

async function openStage() {
  const clock = new ManualClock();
  const store = await openMemoryStore({ clock });
  await createAccount(store, {
    id: "acme",
    balance: readMoney("1.00"),
    settings: { notification_url: "https://receiver.example/own" },
  });
  return { clock, store };
}

const ONCE = ["* balance.low", "acme balance.low"];

Deno.test("two passes at one time, as of two gateways, send an event once to each receiver", async () => {
  const { store } = await openStage();
  await Promise.all([runPass(partsOver(store)), runPass(partsOver(store))]);
  assertEquals(await deliveriesOf(store), ONCE);
  await store.close();
});

Deno.test("a process that ends at any commit of a pass loses no event and sends none twice", async () => {
  for (const isWritten of [true, false]) {
    for (let failing = 0, isOver = false; !isOver; failing++) {
      const { store } = await openStage();
      let commits = 0;
      const broken = changedEngine(store, {
        async commit(operation, commit) {
          const isLast = commits++ === failing;
          if (isLast && !isWritten) throw new Error("ended");
          const result = await store.commit(operation, commit);
          if (isLast) throw new Error("ended");
          return result;
        },
      });
      const first = runPass(partsOver(broken));
      isOver = await first.then(() => true, () => false);
      await runPass(partsOver(store));
      assertEquals(await deliveriesOf(store), ONCE, `commit ${failing}, written: ${isWritten}`);
      await store.close();
    }
  }
});

Deno.test("a threshold that was removed and is set again is not sent twice for one fall of the balance", async () => {
  const { store } = await openStage();
  await runPass(partsOver(store));
  await runPass(partsOver(store, []));
  await runPass(partsOver(store));
  assertEquals(await deliveriesOf(store), ONCE);
  await creditAccount(store, "acme", readMoney("10.00"));
  await runPass(partsOver(store, []));
  await adjustAccount(store, { account: "acme", amount: readMoney("-9.00"), reason: "test", allowNegative: false });
  await runPass(partsOver(store));
  assertEquals((await deliveriesOf(store)).length, 4);
  await store.close();
});

Deno.test("an account without any money yet is not at its end", async () => {
  const clock = new ManualClock();
  const store = await openMemoryStore({ clock });
  await createAccount(store, { id: "new" });
  await runPass(partsOver(store));
  assertEquals(await deliveriesOf(store), []);
  await store.close();
});

Deno.test("an account that changes while its event is committed gets it with the next pass, at its new address", async () => {
  const { store } = await openStage();
  let isChanged = false;
  const racing = changedEngine(store, {
    async commit(operation, commit) {
      const isEvent = commit.addJobs !== undefined && commit.addJobs.length > 0;
      if (isEvent && !isChanged) {
        isChanged = true;
        await changeAccountSettings(store, "acme", { notification_url: "https://receiver.example/new" });
      }
      return await store.commit(operation, commit);
    },
  });
  await runPass(partsOver(racing));
  assertEquals(await deliveriesOf(store), []);
  await runPass(partsOver(racing));
  const { deliveries } = await openDeliveryAdmin(store).list(ALL, PAGE);
  assertEquals(deliveries.map(({ url }) => url).toSorted(), [
    "https://receiver.example/new",
    "https://receiver.example/ops",
  ]);
  await store.close();
});

Deno.test("a notification with a time to live is sent again after it; one without an address is only logged", async () => {
  const { store, clock } = await openStage();
  const parts = partsOver(store);
  const priceChange = {
    event: "price.changed",
    cause: ["acme/model", "prompt"],
    causeTtlMs: 1_000,
    account: null,
    data: { model: "acme/model" },
    logged: { model: "acme/model" },
  } as const;
  assertEquals([await announce(parts, priceChange), await announce(parts, priceChange)], [true, false]);
  clock.advance(2_000);
  assertEquals(await announce(parts, priceChange), true);
  assertEquals(await deliveriesOf(store), ["* price.changed", "* price.changed"]);
  const quiet = { ...parts, config: () => ({ ...parts.config(), url: null }) };
  assertEquals(await announce(quiet, { ...priceChange, cause: ["other"] }), true);
  assertEquals((await deliveriesOf(store)).length, 2);
  await store.close();
});

Deno.test("a pass rejects while the store takes no writes, so that the job is repeated", async () => {
  const { store } = await openStage();
  const refusing = changedEngine(store, { commit: () => Promise.reject(new Error("read-only")) });
  await assertRejects(() => runPass(partsOver(refusing)), Error, "read-only");
  await store.close();
});
