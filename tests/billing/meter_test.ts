import { assert, assertEquals, assertRejects, assertThrows } from "@std/assert";
import fc from "fast-check";
import { changeAccountSettings, createAccount, readAccount } from "../../src/money/billing/accounts/account.ts";
import { creditAccount } from "../../src/money/billing/accounts/credit.ts";
import { createMeter } from "../../src/money/billing/meter/create_meter.ts";
import type { Admission, Charge, Meter } from "../../src/money/billing/meter/meter.ts";
import { chargeRowsOf } from "../../src/money/billing/ledger/charge.ts";
import { verifyLedger } from "../../src/money/billing/verify_ledger.ts";
import type { Clock } from "../../src/platform/lib/basics/clock.ts";
import { GatewayError } from "../../src/platform/lib/basics/gateway_error.ts";
import { silentLog } from "../../src/platform/lib/basics/log.ts";
import type { Money } from "../../src/platform/lib/basics/money.ts";
import { openMemoryStore } from "../support/memory_store.ts";
import { atLeast, itemAt } from "../support/items.ts";
import { eventLoopTurn, instantClock, type ManualClock, manualClock, observeStore, recordingLog } from "./support.ts";
import { unlimitedKey } from "../support/callers.ts";

const CHARGE: Charge = {
  requestId: "req_1",
  keyId: "key_1",
  kind: "text",
  model: "acme/large",
  provider: "acme",
  amount: 10n,
};

async function meterOver<C extends Clock>(balance: Money, clock: C) {
  const store = observeStore(await openMemoryStore({ clock }));
  const log = recordingLog();
  await createAccount(store, { id: "acme", balance });
  store.commits.length = store.operations.length = 0;
  return { store, clock, log, meter: createMeter({ store, clock, log }) };
}

/** Charges a call. */
function chargeOf(admission: Admission, charge: Charge): Promise<void> {
  return Promise.resolve(admission.charge(charge));
}

async function isRefused(admit: () => unknown): Promise<boolean> {
  try {
    await admit();
    return false;
  } catch (error) {
    assert(error instanceof GatewayError && error.code === "insufficient_credits");
    return true;
  }
}

/** Admits calls until one is refused. */
async function admitAll(meter: Meter, estimate: Money): Promise<Admission[]> {
  const admissions: Admission[] = [];
  while (
    !await isRefused(async () => admissions.push(await meter.admit(unlimitedKey("acme"), estimate)))
  ) { /* one more */ }
  return admissions;
}

Deno.test("a call is admitted when its reservation fits into the balance, and refused when it does not", async () => {
  const { meter } = await meterOver(1_000n, manualClock());
  assert(await isRefused(() => meter.admit(unlimitedKey("acme"), 1_001n)));
  (await meter.admit(unlimitedKey("acme"), 1_000n)).release();
});

Deno.test("a reservation beyond the balance is refused with both amounts", async () => {
  const { meter } = await meterOver(1n, manualClock());
  await assertRejects(
    async () => await meter.admit(unlimitedKey("acme"), 1_000_000n),
    GatewayError,
    "it may cost up to 0.0001000000 USD, and the balance that is not reserved is 0.0000000001 USD",
  );
});

Deno.test("a reservation that is decided by the balance sees what the other open calls leave", async () => {
  const { meter } = await meterOver(100n, manualClock());
  const tenth = (spendable: Money) => ({ amount: spendable / 10n, outputLimit: Number(spendable / 10n) });
  const limits = [];
  for (let i = 0; i < 3; i++) limits.push((await meter.admit(unlimitedKey("acme"), tenth)).reserved.outputLimit);
  assertEquals(limits, [10, 9, 8]);
});

Deno.test("onOverdrawn() is called once, when the balance is below minus the largest open reservation", async () => {
  const { meter } = await meterOver(100n, manualClock());
  const [small, large, costly] = atLeast(
    await Promise.all([10n, 40n, 50n].map((amount) => meter.admit(unlimitedKey("acme"), amount))),
    3,
  );
  const ended: string[] = [];
  small.onOverdrawn(() => ended.push("small"));
  large.onOverdrawn(() => ended.push("large"));
  await costly.charge({ ...CHARGE, amount: 140n });
  assertEquals(ended, [], "minus 40 is the reservation itself");
  await small.charge({ ...CHARGE, amount: 1n });
  assertEquals(ended, ["large"], "a call that has ended is not called");
  large.onOverdrawn(() => ended.push("again"));
  assertEquals(ended, ["large", "again"], "who asks later is called at once");
  large.release();
  large.onOverdrawn(() => ended.push("never"));
  assertEquals(ended, ["large", "again"]);
});

Deno.test("onOverdrawn() is also called when others took the money", async () => {
  const { meter, store, clock } = await meterOver(100n, manualClock());
  const open = await meter.admit(unlimitedKey("acme"), 50n);
  let isEnded = false;
  open.onOverdrawn(() => isEnded = true);
  await store.commit(null, { changeBalances: [{ account: "acme", available: -200n, held: 0n, overdraw: true }] });
  clock.advance(1_000);
  await meter.admit(unlimitedKey("acme"), 1n);
  await meter.flush();
  assertEquals(isEnded, true);
});

Deno.test("no call is let in at a balance of zero or below, or without an account", async () => {
  const { meter } = await meterOver(0n, manualClock());
  assert(await isRefused(() => meter.admit(unlimitedKey("acme"), 0n)));
  assert(await isRefused(() => meter.admit(unlimitedKey("nobody"), 0n)));
  const { meter: overdrawn } = await meterOver(5n, manualClock());
  await (await overdrawn.admit(unlimitedKey("acme"), 1n)).charge(CHARGE);
  assert(await isRefused(() => overdrawn.admit(unlimitedKey("acme"), 0n)));
});

Deno.test("the overdraft of an account counts as balance, and a change of it takes effect at once", async () => {
  const { meter, store } = await meterOver(10n, manualClock());
  await changeAccountSettings(store, "acme", { overdraft: 30n });
  const admissions = await admitAll(meter, 20n);
  assertEquals(admissions.length, 2);
  await Promise.all(admissions.map((admission, index) => {
    return chargeOf(admission, { ...CHARGE, requestId: `req_${index}`, amount: 20n });
  }));
  assert(await isRefused(() => meter.admit(unlimitedKey("acme"), 0n)));
  assertEquals((await readAccount(store, "acme")).available, -30n);
  await changeAccountSettings(store, "acme", { overdraft: 31n });
  meter.invalidate("acme");
  (await meter.admit(unlimitedKey("acme"), 1n)).release();
  await changeAccountSettings(store, "acme", { overdraft: null });
  meter.invalidate("acme");
  assert(await isRefused(() => meter.admit(unlimitedKey("acme"), 0n)));
});

Deno.test("a call in progress is ended by an overdraft only below the permitted one", async () => {
  const { meter, store } = await meterOver(10n, manualClock());
  await changeAccountSettings(store, "acme", { overdraft: 100n });
  const open = await meter.admit(unlimitedKey("acme"), 5n);
  let ended = 0;
  open.onOverdrawn(() => ended++);
  const [first, second] = [await meter.admit(unlimitedKey("acme"), 1n), await meter.admit(unlimitedKey("acme"), 1n)];
  await chargeOf(first, { ...CHARGE, requestId: "req_1", amount: 115n });
  assertEquals(ended, 0);
  await chargeOf(second, { ...CHARGE, requestId: "req_2", amount: 1n });
  assertEquals(ended, 1);
});

Deno.test("of 50 calls at once with a balance for one, one is let in", async () => {
  const { meter } = await meterOver(10n, manualClock());
  const refused = await Promise.all(
    Array.from({ length: 50 }, () => isRefused(() => meter.admit(unlimitedKey("acme"), 10n))),
  );
  assertEquals(refused.filter((one) => !one).length, 1);
});

Deno.test("an account is overdrawn by no more than what its calls cost beyond their reservations", async () => {
  const call = fc.record({
    reserved: fc.bigInt({ min: 0n, max: 300n }),
    excess: fc.oneof(fc.constant(0n), fc.bigInt({ min: -300n, max: 100n })),
    /** How many open calls end before this one starts. */
    ends: fc.nat(3),
  });
  await fc.assert(
    fc.asyncProperty(fc.bigInt({ min: 1n, max: 1_000n }), fc.array(call, { maxLength: 40 }), async (balance, calls) => {
      const { meter, store } = await meterOver(balance, manualClock());
      const open: { admission: Admission; cost: Money }[] = [];
      const charges: Promise<void>[] = [];
      let bound = 0n;
      const end = (count: number) => {
        for (const { admission, cost } of open.splice(0, count)) {
          charges.push(chargeOf(admission, { ...CHARGE, amount: cost }));
        }
      };
      for (const { reserved, excess, ends } of calls) {
        end(ends);
        await isRefused(async () => {
          const admission = await meter.admit(unlimitedKey("acme"), reserved);
          const cost = reserved + excess > 0n ? reserved + excess : 0n;
          if (cost > reserved) bound += cost - reserved;
          open.push({ admission, cost });
        });
      }
      end(open.length);
      await Promise.all(charges);
      assert((await store.balance("acme")).available >= -bound);
    }),
    { numRuns: 100 },
  );
});

Deno.test("a call that ends without a charge gives its estimate back, once", async () => {
  const { meter } = await meterOver(10n, manualClock());
  const admission = await meter.admit(unlimitedKey("acme"), 10n);
  assert(await isRefused(() => meter.admit(unlimitedKey("acme"), 1n)));
  admission.release();
  admission.release();
  await meter.admit(unlimitedKey("acme"), 10n);
  assert(await isRefused(() => meter.admit(unlimitedKey("acme"), 1n)));
});

Deno.test("admit() answers at once and without a read while the balance is known", async () => {
  const { meter, store } = await meterOver(1000n, manualClock());
  (await meter.admit(unlimitedKey("acme"), 1n)).release();
  const reads = store.balanceReads;
  for (let i = 0; i < 100; i++) {
    const admission = meter.admit(unlimitedKey("acme"), 1n);
    assert(!(admission instanceof Promise));
    await admission.charge({ ...CHARGE, amount: 1n });
  }
  assertEquals([store.balanceReads, store.reads], [reads, 0]);
});

Deno.test("admit() throws at once when it is known that nothing is left", async () => {
  const { meter } = await meterOver(10n, manualClock());
  await (await meter.admit(unlimitedKey("acme"), 1n)).charge(CHARGE);
  assertThrows(() => void meter.admit(unlimitedKey("acme"), 1n), GatewayError);
});

Deno.test("a known balance is read anew in the background after a second, and waited for after five", async () => {
  const { meter, store, clock } = await meterOver(1000n, manualClock());
  (await meter.admit(unlimitedKey("acme"), 1n)).release();
  clock.advance(1_000);
  for (let i = 0; i < 10; i++) assert(!(meter.admit(unlimitedKey("acme"), 1n) instanceof Promise));
  await meter.flush();
  assertEquals(store.balanceReads, 2);
  clock.advance(5_000);
  const waiting = meter.admit(unlimitedKey("acme"), 1n);
  assert(waiting instanceof Promise);
  await waiting;
  assertEquals(store.balanceReads, 3);
});

Deno.test("nobody is refused by a balance that is older than a second", async () => {
  const { meter, store, clock } = await meterOver(0n, manualClock());
  assert(await isRefused(() => meter.admit(unlimitedKey("acme"), 1n)));
  await creditAccount(store, "acme", 100n);
  assert(await isRefused(() => meter.admit(unlimitedKey("acme"), 1n)));
  clock.advance(1_000);
  await meter.admit(unlimitedKey("acme"), 1n);
});

Deno.test("a credit that is told by invalidate() is seen by the next call", async () => {
  const { meter, store } = await meterOver(0n, manualClock());
  assert(await isRefused(() => meter.admit(unlimitedKey("acme"), 1n)));
  await creditAccount(store, "acme", 100n);
  meter.invalidate("acme");
  meter.invalidate("nobody");
  await meter.admit(unlimitedKey("acme"), 1n);
});

Deno.test("a balance that is read while it is invalidated is read again", async () => {
  const { meter, store } = await meterOver(0n, manualClock());
  const { balance } = store;
  const stalled = Promise.withResolvers<void>();
  store.balance = async (account) => {
    const read = await balance(account);
    store.balance = balance;
    await stalled.promise;
    return read;
  };
  const admission = meter.admit(unlimitedKey("acme"), 1n);
  await creditAccount(store, "acme", 100n);
  meter.invalidate("acme");
  stalled.resolve();
  await admission;
});

Deno.test("charge() resolves when the charge is durable", async () => {
  const { meter, store } = await meterOver(100n, manualClock());
  const gate = Promise.withResolvers<void>();
  store.beforeCommit = () => gate.promise;
  let isDone = false;
  const charged = chargeOf(await meter.admit(unlimitedKey("acme"), 10n), CHARGE).then(() => isDone = true);
  await eventLoopTurn();
  assertEquals(isDone, false);
  gate.resolve();
  await charged;
  assertEquals(await store.balance("acme"), { available: 90n, held: 0n });
});

Deno.test("a charge that is not durable yet is money spent", async () => {
  const { meter, store } = await meterOver(10n, manualClock());
  const gate = Promise.withResolvers<void>();
  store.beforeCommit = () => gate.promise;
  const charged = (await meter.admit(unlimitedKey("acme"), 1n)).charge(CHARGE);
  assert(await isRefused(() => meter.admit(unlimitedKey("acme"), 0n)));
  gate.resolve();
  await charged;
});

Deno.test("calls are refused while the oldest charge waits too long for the ledger", async () => {
  const clock = manualClock();
  const store = observeStore(await openMemoryStore({ clock }));
  await createAccount(store, { id: "acme", balance: 100n });
  const meter = createMeter({ store, clock, log: recordingLog(), maxLedgerLagMs: 2_000 });
  const gate = Promise.withResolvers<void>();
  store.beforeCommit = () => gate.promise;
  const charged = chargeOf(await meter.admit(unlimitedKey("acme"), 10n), CHARGE);
  clock.advance(2_000);
  (await meter.admit(unlimitedKey("acme"), 10n)).release();
  clock.advance(1);
  assertThrows(() => void meter.admit(unlimitedKey("acme"), 10n), GatewayError, "cannot use its storage");
  gate.resolve();
  await charged;
  (await meter.admit(unlimitedKey("acme"), 10n)).release();
});

Deno.test("charges that come while a commit is under way share the next one: one balance change, one entry", async () => {
  const { meter, store } = await meterOver(1_000_000n, manualClock());
  const admissions = await Promise.all(Array.from({ length: 121 }, () => meter.admit(unlimitedKey("acme"), 1n)));
  const gate = Promise.withResolvers<void>();
  store.beforeCommit = () => gate.promise;
  const first = itemAt(admissions, 0).charge(CHARGE);
  while (store.commits.length === 0) await eventLoopTurn();
  const rest = admissions.slice(1).map((admission, i) => admission.charge({ ...CHARGE, requestId: `req_${i}` }));
  gate.resolve();
  await Promise.all([first, ...rest]);
  assertEquals(store.commits.length, 2);
  const commit = itemAt(store.commits.slice(-1), 0);
  assertEquals([commit.changeBalances?.length, commit.ledgerEntries?.length, commit.changeBalances?.[0]?.available], [
    1,
    1,
    -1_200n,
  ]);
  const lines = await store.ledger("acme", { limit: 10 });
  assertEquals(chargeRowsOf(itemAt(lines, 2)).map(({ requestId }) => requestId), rest.map((_, i) => `req_${i}`));
});

Deno.test("charges of one turn of the event loop share one commit, thousands go out in few", async () => {
  const { meter, store } = await meterOver(1_000_000n, manualClock());
  const admissions = await Promise.all(Array.from({ length: 2000 }, () => meter.admit(unlimitedKey("acme"), 1n)));
  await Promise.all(admissions.map((admission) => admission.charge(CHARGE)));
  assert(store.commits.length >= 10 && store.commits.length <= 30);
  assertEquals((await store.balance("acme")).available, 980_000n);
  assertEquals((await verifyLedger(store)).differences, []);
});

Deno.test("one account's slow commit does not delay other accounts", async () => {
  const { meter, store } = await meterOver(100n, manualClock());
  await createAccount(store, { id: "zeta", balance: 100n });
  const [slow, quick] = [await meter.admit(unlimitedKey("acme"), 1n), await meter.admit(unlimitedKey("zeta"), 1n)];
  const gate = Promise.withResolvers<void>();
  store.beforeCommit = () => store.commits.at(-1)?.changeBalances?.[0]?.account === "acme" ? gate.promise : undefined;
  const charged = slow.charge(CHARGE);
  await quick.charge(CHARGE);
  gate.resolve();
  await charged;
});

Deno.test("only the first call of charge() or release() has an effect", async () => {
  const { meter, store, log } = await meterOver(100n, manualClock());
  const charged = await meter.admit(unlimitedKey("acme"), 10n);
  await Promise.all([charged.charge(CHARGE), charged.charge({ ...CHARGE, amount: 20n })]);
  charged.release();
  const released = await meter.admit(unlimitedKey("acme"), 10n);
  released.release();
  await released.charge(CHARGE);
  assertEquals((await store.balance("acme")).available, 90n);
  assertEquals(log.lines.map(({ event }) => event), ["charge_ignored", "charge_ignored"]);
});

Deno.test("a charge of zero ends the call without a commit", async () => {
  const { meter, store } = await meterOver(10n, manualClock());
  await (await meter.admit(unlimitedKey("acme"), 10n)).charge({ ...CHARGE, amount: 0n });
  assertEquals(store.commits, []);
  await meter.admit(unlimitedKey("acme"), 10n);
});

Deno.test("charges and estimates below zero are refused", async () => {
  const { meter, store } = await meterOver(10n, manualClock());
  assertThrows(() => void meter.admit(unlimitedKey("acme"), -1n), RangeError);
  const admission = await meter.admit(unlimitedKey("acme"), 1n);
  await assertRejects(() => chargeOf(admission, { ...CHARGE, amount: -1n }), RangeError);
  assertEquals(store.commits, []);
});

Deno.test("a commit with an unknown outcome is repeated with its reference and charges once", async () => {
  const { meter, store, log } = await meterOver(100n, instantClock());
  let failures = 2;
  store.afterCommit = () => {
    if (failures-- > 0) throw new Error("connection lost");
  };
  await (await meter.admit(unlimitedKey("acme"), 10n)).charge(CHARGE);
  assertEquals(store.operations.length, 3);
  assertEquals(new Set(store.operations).size, 1);
  assertEquals((await store.balance("acme")).available, 90n);
  assertEquals(log.lines.map(({ event }) => event), ["charge_retried", "charge_retried"]);
});

Deno.test("a repeat that finds its own ledger entry succeeds", async () => {
  const { meter, store } = await meterOver(100n, instantClock());
  const { commit } = store;
  store.commit = (_forgotten, one) => commit(null, one);
  store.afterCommit = () => {
    store.afterCommit = () => {};
    throw new Error("connection lost");
  };
  await (await meter.admit(unlimitedKey("acme"), 10n)).charge(CHARGE);
  assertEquals((await store.balance("acme")).available, 90n);
});

/** Advances the clock second by second. */
async function letPass(clock: ManualClock, seconds: number): Promise<void> {
  for (let second = 0; second < seconds; second++) {
    clock.advance(1_000);
    await new Promise((resolve) => setTimeout(resolve));
  }
}

/** Two charges that the store cannot write. */
async function delayedCharges() {
  const clock = manualClock();
  const { meter, store, log } = await meterOver(100n, clock);
  const admissions = await Promise.all([
    meter.admit(unlimitedKey("acme"), 10n),
    meter.admit(unlimitedKey("acme"), 10n),
  ]);
  store.beforeCommit = () => {
    throw new Error("disk full");
  };
  const charges = admissions.map((admission, i) => chargeOf(admission, { ...CHARGE, requestId: `req_${i}` }));
  const codes = charges.map(async (charge) => (await assertRejects(() => charge, GatewayError)).code);
  await letPass(clock, 4);
  assertEquals(await Promise.all(codes), ["storage_unavailable", "storage_unavailable"]);
  const linesOf = (name: string) => log.lines.filter(({ event }) => event === name).map(({ fields }) => fields);
  return { clock, meter, store, linesOf };
}

Deno.test("a charge that the store cannot write rejects, still counts, and is written later", async () => {
  const { clock, meter, store, linesOf } = await delayedCharges();
  assertEquals((await admitAll(meter, 10n)).length, 8); // delayed charges cannot be spent again
  assertEquals(linesOf("charge_delayed").map(({ count, cost }) => [count, cost]), [[2, "0.0000000020"]]);
  await letPass(clock, 120);
  assertEquals((await store.balance("acme")).available, 100n);
  assertEquals(linesOf("charge_lost"), []);
  store.beforeCommit = () => {};
  await letPass(clock, 31);
  assertEquals((await store.balance("acme")).available, 80n);
  assertEquals(linesOf("charge_recorded").length, 1);
  await letPass(clock, 60);
  assertEquals((await store.balance("acme")).available, 80n);
});

Deno.test("a delayed charge whose outcome was unknown is written once", async () => {
  const { clock, store } = await delayedCharges();
  store.beforeCommit = () => {};
  store.afterCommit = () => {
    throw new Error("connection lost");
  };
  await letPass(clock, 60);
  store.afterCommit = () => {};
  await letPass(clock, 60);
  assertEquals((await store.balance("acme")).available, 80n);
});

Deno.test("flush() retries delayed charges once and logs lost ones with their amounts", async () => {
  const { meter, store, linesOf } = await delayedCharges();
  await meter.flush();
  assertEquals(linesOf("charge_lost").map(({ requestId, cost }) => [requestId, cost]), [
    ["req_0", "0.0000000010"],
    ["req_1", "0.0000000010"],
  ]);
  assertEquals((await store.balance("acme")).available, 100n);
  const saved = await delayedCharges();
  saved.store.beforeCommit = () => {};
  await saved.meter.flush();
  assertEquals((await saved.store.balance("acme")).available, 80n);
});

Deno.test("a call is admitted only when the store takes writes", async () => {
  const refusal = new GatewayError("storage_unavailable", "Cannot write");
  const checks: (() => void | Promise<void>)[] = [() => {
    throw refusal;
  }, () => Promise.reject(refusal)];
  for (const check of checks) {
    const { store, log } = await meterOver(100n, manualClock());
    const meter = createMeter({ store, log, clock: manualClock(), writeGuard: { failure: null, check } });
    const error = await assertRejects(async () => await meter.admit(unlimitedKey("acme"), 1n), GatewayError);
    assertEquals(error.code, "storage_unavailable");
  }
});

Deno.test("admit() rejects when the balance cannot be read and recovers with the store", async () => {
  const { meter, store } = await meterOver(100n, manualClock());
  const { balance } = store;
  store.balance = () => Promise.reject(new Error("disk is gone"));
  await assertRejects(async () => await meter.admit(unlimitedKey("acme"), 1n), Error, "disk is gone");
  store.balance = balance;
  await meter.admit(unlimitedKey("acme"), 1n);
});

Deno.test("the cached balance of a busy account stays exact", async () => {
  const anyAmount = fc.integer({ min: 0, max: 40 });
  await fc.assert(
    fc.asyncProperty(fc.array(anyAmount, { maxLength: 60 }), async (amounts) => {
      const clock = manualClock();
      const { meter, store } = await meterOver(500n, clock);
      const running: Promise<void>[] = [];
      let spent = 0n;
      for (const amount of amounts) {
        clock.advance(amount * 50);
        if (
          await isRefused(async () => {
            const admission = await meter.admit(unlimitedKey("acme"), BigInt(amount));
            spent += BigInt(amount);
            running.push(chargeOf(admission, { ...CHARGE, amount: BigInt(amount) }));
          })
        ) assert(spent >= 500n);
      }
      await Promise.all(running);
      assertEquals((await store.balance("acme")).available, 500n - spent);
      assertEquals((await verifyLedger(store)).differences, []);
    }),
    { numRuns: 50 },
  );
});

Deno.test("unused account meters are evicted", async () => {
  const clock = manualClock();
  const store = observeStore(await openMemoryStore({ clock }));
  const meter = createMeter({ store, clock, log: silentLog });
  await createAccount(store, { id: "acme", balance: 10n });
  const open = await meter.admit(unlimitedKey("acme"), 10n);
  for (let i = 0; i < 10_010; i++) await isRefused(() => meter.admit(unlimitedKey(`account-${i}`), 1n));
  assert(await isRefused(() => meter.admit(unlimitedKey("acme"), 1n)), "an account with an open call is kept");
  const reads = store.balanceReads;
  await isRefused(() => meter.admit(unlimitedKey("account-0"), 1n));
  assertEquals(store.balanceReads, reads + 1, "the first idle one was dropped");
  open.release();
});
