import { assert, assertEquals, assertRejects } from "@std/assert";
import fc from "fast-check";
import { createAccount } from "../../src/money/billing/accounts/account.ts";
import { createMeter } from "../../src/money/billing/meter/create_meter.ts";
import type { Admission, Charge, LedgerMeter } from "../../src/money/billing/meter/meter.ts";
import { GatewayError } from "../../src/platform/lib/basics/gateway_error.ts";
import { silentLog } from "../../src/platform/lib/basics/log.ts";
import type { Money } from "../../src/platform/lib/basics/money.ts";
import { unlimitedKey } from "../support/callers.ts";
import { itemAt } from "../support/items.ts";
import { openMemoryStore } from "../support/memory_store.ts";
import { DURATION_MS, leasesOver } from "../support/money_leases.ts";
import { eventLoopTurn, manualClock } from "./support.ts";

const CHARGE: Charge = { requestId: "r", keyId: "k", kind: "text", model: "m", provider: "p", amount: 1n };

async function shared(balance: Money, count: number) {
  const clock = manualClock();
  const store = await openMemoryStore({ clock });
  await createAccount(store, { id: "acme", balance });
  const leases = leasesOver(store, clock);
  const meters = Array.from(
    { length: count },
    (_, n) => createMeter({ store, clock, log: silentLog, leases: leases.of(String(n)) }),
  );
  return { clock, store, meters, ...leases };
}

const admit = async (meter: LedgerMeter, amount: Money) => await meter.admit(unlimitedKey("acme"), amount);

/** The admission of a call, or the code of its refusal. */
async function tried(meter: LedgerMeter, amount: Money): Promise<Admission | string> {
  try {
    return await admit(meter, amount);
  } catch (error) {
    assert(error instanceof GatewayError);
    return error.code;
  }
}

Deno.test("processes that share an account never reserve and charge more than its credit together", async () => {
  const step = fc.oneof(
    { weight: 5, arbitrary: fc.tuple(fc.constant("admit" as const), fc.nat(2), fc.bigInt(1n, 300n)) },
    { weight: 3, arbitrary: fc.tuple(fc.constant("end" as const), fc.nat(20), fc.bigInt(0n, 100n)) },
    { weight: 1, arbitrary: fc.tuple(fc.constant("pass" as const), fc.nat(4), fc.constant(0n)) },
  );
  await fc.assert(
    fc.asyncProperty(fc.array(step, { maxLength: 40 }), async (steps) => {
      const { clock, store, meters } = await shared(1_000n, 3);
      const open: Admission[] = [];
      const begun: Promise<unknown>[] = [];
      const charged: unknown[] = [];
      for (const [kind, n, amount] of steps) {
        if (kind === "admit") {
          begun.push(tried(itemAt(meters, n), amount).then((one) => typeof one !== "string" && open.push(one)));
          if (n === 0) await Promise.all(begun); // otherwise calls of several processes are under way at once
        } else if (kind === "end") {
          const [one] = open.splice(n % Math.max(open.length, 1), 1);
          if (one) charged.push(one.charge({ ...CHARGE, amount: one.reserved.amount * amount / 100n }));
        } else {
          clock.advance(n * 1_000);
        }
        const reserved = meters.reduce((sum, meter) => sum + meter.reserved("acme"), 0n);
        assert(reserved <= (await store.balance("acme")).available);
      }
      await Promise.all(begun);
      await Promise.all(charged);
      for (const one of open) one.release();
      await Promise.all(meters.map((meter) => meter.flush()));
      const { available } = await store.balance("acme");
      assert(available >= 0n);
      clock.advance(1_000); // a balance that was read within a second can refuse a call
      if (available > 0n) (await admit(itemAt(meters, 1), available)).release();
    }),
    { numRuns: 200 },
  );
});

Deno.test("calls of two processes at once are admitted as long as the balance lasts", async () => {
  const { meters } = await shared(100n, 2);
  const results = await Promise.all(Array.from({ length: 30 }, (_, n) => tried(itemAt(meters, n % 2), 10n)));
  assertEquals(results.filter((one) => typeof one !== "string").length, 10);
  assertEquals(new Set(results.filter((one) => typeof one === "string")), new Set(["insufficient_credits"]));
});

Deno.test("many calls near zero are admitted as long as the balance lasts, however late the store answers", async () => {
  const { meters, before } = await shared(95n, 2);
  before.wait = () => new Promise((resolve) => setTimeout(resolve, Math.random() * 3));
  const results = await Promise.all(Array.from({ length: 60 }, (_, n) => tried(itemAt(meters, n % 2), 10n)));
  assertEquals(results.filter((one) => typeof one !== "string").length, 9);
  assertEquals(new Set(results.filter((one) => typeof one === "string")), new Set(["insufficient_credits"]));
});

Deno.test("a charge uses up the lease that it was reserved in, also when it is in the ledger", async () => {
  const { meters, store } = await shared(160n, 2);
  const [one, other] = [itemAt(meters, 0), itemAt(meters, 1)];
  let spent = 0n;
  (await admit(other, 80n)).release();
  while (true) {
    const call = await tried(one, 5n);
    if (typeof call === "string") break;
    await call.charge({ ...CHARGE, amount: 5n });
    spent += 5n;
  }
  assertEquals(spent, 75n); // the other one leases 80 and a sixteenth of the rest
  assertEquals((await store.balance("acme")).available, 85n);
});

Deno.test("far from zero, calls are admitted by one lease without the store", async () => {
  const { meters, rows } = await shared(1_000_000n, 1);
  const meter = itemAt(meters, 0);
  await admit(meter, 10n);
  const { amount } = rows.values().next().value ?? { amount: 0n };
  assertEquals(amount, 10n + (1_000_000n - 10n) / 16n);
  rows.clear(); // nothing below reads it
  for (let n = 0; n < 100; n++) assert(!(meter.admit(unlimitedKey("acme"), 10n) instanceof Promise));
});

Deno.test("a lease that is not used is returned, so that another process can spend all", async () => {
  const { clock, meters, rows } = await shared(1_000n, 2);
  const [one, other] = [itemAt(meters, 0), itemAt(meters, 1)];
  (await admit(one, 10n)).release();
  assertEquals(await tried(other, 1_000n), "insufficient_credits");
  for (let n = 0; n < 2; n++) {
    clock.advance(3_000);
    await eventLoopTurn();
  }
  assertEquals(rows.size, 0);
  (await admit(other, 1_000n)).release();
});

Deno.test("a lease is renewed while calls are open, also without new ones", async () => {
  const { clock, meters, rows } = await shared(1_000n, 2);
  const open = await admit(itemAt(meters, 0), 600n);
  for (let n = 0; n < 30; n++) {
    clock.advance(3_000);
    await eventLoopTurn();
  }
  assertEquals(rows.get("0")?.amount, 600n);
  assertEquals(await tried(itemAt(meters, 1), 401n), "insufficient_credits");
  open.release();
});

Deno.test("what a killed process leased is free after thirty seconds", async () => {
  const { clock, store, meters, of } = await shared(1_000n, 1);
  await of("killed").lease("acme", { kept: 0n, wanted: 900n, hasSpare: false });
  const meter = itemAt(meters, 0);
  assertEquals(await tried(meter, 500n), "insufficient_credits");
  clock.advance(DURATION_MS);
  (await admit(meter, 500n)).release();
  assertEquals((await store.balance("acme")).available, 1_000n);
});

Deno.test("without the store, calls beyond the lease get 503, and the next lease is exact again", async () => {
  const { clock, meters, isAway, rows } = await shared(1_000n, 1);
  const meter = itemAt(meters, 0);
  const open = await admit(meter, 100n);
  isAway.value = true;
  const error = await assertRejects(() => admit(meter, 500n), GatewayError);
  assertEquals(error.code, "storage_unavailable");
  isAway.value = false;
  const more = await admit(meter, 900n);
  assertEquals(rows.get("0")?.amount, 1_000n);
  more.release();
  open.release();
  clock.advance(3_000);
});

Deno.test("a process that could not renew its lease does not use it", async () => {
  const { clock, meters, isAway } = await shared(1_000n, 1);
  const meter = itemAt(meters, 0);
  (await admit(meter, 10n)).release();
  isAway.value = true;
  clock.advance(DURATION_MS - 2_000);
  await eventLoopTurn();
  assertEquals(await tried(meter, 1n), "storage_unavailable");
});

Deno.test("a normal stop returns all leases", async () => {
  const { meters, rows } = await shared(1_000n, 1);
  const meter = itemAt(meters, 0);
  const open = await admit(meter, 10n);
  await Promise.resolve(open.charge({ ...CHARGE, amount: 10n }));
  await meter.flush();
  assertEquals(rows.size, 0);
});
