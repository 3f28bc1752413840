import { assertEquals } from "@std/assert";
import { createAccount } from "../../src/money/billing/accounts/account.ts";
import { ChargeQueue } from "../../src/money/billing/ledger/charge_queue.ts";
import { LedgerSchedule } from "../../src/money/billing/ledger/ledger_schedule.ts";
import { silentLog } from "../../src/platform/lib/basics/log.ts";
import { openMemoryStore } from "../support/memory_store.ts";
import { manualClock } from "./support.ts";

const CHARGE = {
  at: 0,
  requestId: "req_1",
  keyId: "key_1",
  kind: "text",
  model: "m",
  provider: "p",
  amount: 5n,
  usage: { freshTokens: 1 },
} as const;

Deno.test("reads that follow one another without an end do not hold up the charges", async () => {
  const clock = manualClock();
  const store = await openMemoryStore({ clock });
  await createAccount(store, { id: "acme", balance: 100n });
  let isWritten = false;
  const schedule = new LedgerSchedule(clock);
  const onWritten = () => void (isWritten = true);
  const queue = new ChargeQueue("acme", { store, clock, log: silentLog, journal: null, schedule, onWritten });
  let reads = 0;
  const readAgain = async () => {
    await store.balance("acme");
    if (!isWritten && ++reads < 1_000) queue.runBetween(readAgain);
  };
  queue.runBetween(readAgain);
  await queue.add(CHARGE);
  assertEquals([isWritten, reads < 1_000, (await store.balance("acme")).available], [true, true, 95n]);
});
