import { createAccount } from "../../src/money/billing/accounts/account.ts";
import { issueKey } from "../../src/money/billing/keys/issued_key.ts";
import { UsageRollup } from "../../src/money/billing/usage/usage_rollup.ts";
import { silentLog } from "../../src/platform/lib/basics/log.ts";
import { MAX_TURN_READS } from "../../src/platform/lib/streams/loop_turns.ts";
import { readMoney } from "../../src/platform/lib/basics/money.ts";
import { OpenCauses } from "../../src/services/notifications/causes.ts";
import { runPass } from "../../src/services/notifications/run_pass.ts";
import { EventLoopTurns } from "../support/event_loop_turns.ts";
import { ManualClock } from "../support/manual_clock.ts";
import { openMemoryStore } from "../support/memory_store.ts";
import { partsOver } from "./support.ts";

const ACCOUNTS = 960;

/** Accounts with a key each. Half of them have fallen below the threshold. */
async function openStage() {
  const clock = new ManualClock();
  const store = await openMemoryStore({ clock });
  for (let place = 0; place < ACCOUNTS; place++) {
    const id = `acme-${place}`;
    await createAccount(store, { id, balance: readMoney(place % 2 === 0 ? "1.00" : "9.00") });
    await issueKey(store, id);
  }
  return { clock, store };
}

Deno.test("a pass over many accounts and keys lets the event loop turn after some of them", async () => {
  const { store } = await openStage();
  using turns = new EventLoopTurns();
  await runPass(partsOver(store));
  turns.assertAbout(2 * ACCOUNTS / MAX_TURN_READS, "the first pass");
  await runPass(partsOver(store));
  turns.assertAbout(4 * ACCOUNTS / MAX_TURN_READS, "both passes");
  await store.close();
});

Deno.test("many causes that are over are ended in several turns of the event loop", async () => {
  const { store } = await openStage();
  await runPass(partsOver(store));
  const causes = await OpenCauses.read(store, "balance.low");
  using turns = new EventLoopTurns();
  await causes.endOthers(store);
  turns.assertAbout(ACCOUNTS / 2 / MAX_TURN_READS, "the end of the causes");
  await store.close();
});

Deno.test("the usage of many accounts without new entries is summed in several turns of the event loop", async () => {
  const { store, clock } = await openStage();
  const rollup = new UsageRollup({ store, clock, log: silentLog });
  await rollup.foldAll();
  for (let place = 0; place < ACCOUNTS; place++) rollup.mark(`acme-${place}`);
  using turns = new EventLoopTurns();
  await rollup.foldAll();
  turns.assertAbout(ACCOUNTS / MAX_TURN_READS, "the sums");
  await store.close();
});
