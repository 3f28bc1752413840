import { assertEquals } from "@std/assert";
import { createAccount, readAccount } from "../../src/money/billing/accounts/account.ts";
import { readForecast } from "../../src/money/billing/forecast.ts";
import { accountSpentOf, DAY_MS } from "../../src/money/billing/usage/usage_records.ts";
import { readMoney, writeMoney } from "../../src/platform/lib/basics/money.ts";
import { ManualClock } from "../support/manual_clock.ts";
import { openMemoryStore } from "../support/memory_store.ts";

const TODAY = 20_800;

/** The forecast at noon of the day {@linkcode TODAY} of an account of 20 USD; `spent` has amounts by days before it. */
async function forecastOf(
  spent: Readonly<Record<number, string>>,
  { createdDaysAgo = 100, balance = "20", overdraft = "0" } = {},
) {
  const clock = new ManualClock((TODAY - createdDaysAgo) * DAY_MS);
  const store = await openMemoryStore({ clock });
  await createAccount(store, {
    id: "acme",
    balance: readMoney(balance),
    settings: { overdraft: readMoney(overdraft) },
  });
  for (const [daysAgo, amount] of Object.entries(spent)) {
    await store.commit(null, {
      set: [{ key: [...accountSpentOf("acme"), TODAY - Number(daysAgo)], value: readMoney(amount) }],
    });
  }
  clock.set(TODAY * DAY_MS + DAY_MS / 2);
  const { left, spentPerDay, lastsUntil } = await readForecast(store, await readAccount(store, "acme"));
  const now = clock.now();
  await store.close();
  const days = lastsUntil === null ? null : Math.round((lastsUntil - now) / DAY_MS * 100) / 100;
  return [writeMoney(left).slice(0, -8), writeMoney(spentPerDay).slice(0, -8), days];
}

Deno.test("forecast: a steady rate of 2 USD a day and 20 USD last ten days", async () => {
  const spent = { 0: "1", 1: "2", 2: "2", 3: "2", 4: "2", 5: "2", 6: "2", 7: "50", 40: "900" };
  assertEquals(await forecastOf(spent), ["20.00", "2.00", 10]);
});

Deno.test("forecast: a rise of the last two days counts in full, a quiet day a seventh", async () => {
  assertEquals(await forecastOf({ 0: "10", 1: "5" }), ["20.00", "10.00", 2]);
  assertEquals(await forecastOf({ 2: "13", 3: "13" }), ["20.00", "4.00", 5]);
});

Deno.test("forecast: the rate of a young account begins with it, but is of a day at least", async () => {
  assertEquals(await forecastOf({ 0: "3", 1: "3", 2: "4" }, { createdDaysAgo: 2 }), ["20.00", "4.00", 5]);
  assertEquals(await forecastOf({ 0: "5" }, { createdDaysAgo: 0 }), ["20.00", "5.00", 4]);
});

Deno.test("forecast: an overdraft lasts too, nothing left ends now, and no charges never", async () => {
  assertEquals(await forecastOf({ 0: "6" }, { overdraft: "16" }), ["36.00", "4.00", 9]);
  assertEquals(await forecastOf({ 0: "6" }, { balance: "0" }), ["0.00", "4.00", 0]);
  assertEquals(await forecastOf({ 30: "6" }), ["20.00", "0.00", null]);
  assertEquals(await forecastOf({ 0: "0.0000000001" }), ["20.00", "0.00", null]);
});
