import { assert, assertEquals, assertRejects } from "@std/assert";
import fc from "fast-check";
import type { Admission, Charge } from "../../src/money/billing/meter/meter.ts";
import { replayCharges } from "../../src/money/billing/ledger/replay_charges.ts";
import { verifyLedger } from "../../src/money/billing/verify_ledger.ts";
import { GatewayError } from "../../src/platform/lib/basics/gateway_error.ts";
import type { Money } from "../../src/platform/lib/basics/money.ts";
import type { AccessLimits } from "../../src/money/limits/access_limits.ts";
import type { LimitedCaller } from "../../src/money/limits/limited_caller.ts";
import { unlimitedKey } from "../support/callers.ts";
import { itemAt } from "../support/items.ts";
import { meterStage, type TestThread } from "./stage.ts";

const CHARGE: Charge = { requestId: "r", keyId: "key_1", kind: "text", model: "m", provider: "p", amount: 1n };
const CALLER = unlimitedKey("acme");

function limited(limits: AccessLimits): LimitedCaller {
  return { keyId: "key_1", accountId: "acme", limits: { key: limits, account: {} } };
}

/** The admission of a call, or the code of its refusal. */
async function tried(
  { meter }: Pick<TestThread, "meter">,
  amount: Money,
  caller: LimitedCaller = CALLER,
): Promise<Admission | string> {
  try {
    return await meter.admit(caller, () => ({ amount, outputLimit: null, tokens: 10 }));
  } catch (error) {
    assert(error instanceof GatewayError, String(error));
    return error.code;
  }
}

async function admitted(thread: Pick<TestThread, "meter">, amount: Money, caller = CALLER): Promise<Admission> {
  const call = await tried(thread, amount, caller);
  assert(typeof call !== "string", String(call));
  return call;
}

function countOf(results: readonly (Admission | string)[]): number {
  return results.filter((one) => typeof one !== "string").length;
}

Deno.test("leases: far from a limit, calls of a thread are admitted and charged without a message of their own", async () => {
  const { threads, store, clock, settle } = await meterStage(1_000_000n, 1);
  const thread = itemAt(threads, 0);
  await (await admitted(thread, 10n)).charge(CHARGE);
  await settle();
  thread.sent.length = 0;
  for (let n = 0; n < 100; n++) {
    const call = thread.meter.admit(CALLER, 10n);
    assert(!(call instanceof Promise));
    assertEquals(call.charge({ ...CHARGE, amount: 5n }), undefined);
  }
  assertEquals(thread.sent, []);
  assertEquals([...thread.journal.values()].flat().length, 100);
  clock.advance(40);
  await settle();
  assertEquals(thread.sent, ["lease-report"]);
  assertEquals((await store.balance("acme")).available, 1_000_000n - 501n);
});

Deno.test("leases: a balance counts what threads have charged a moment ago", async () => {
  const { threads, store } = await meterStage(1_000_000n, 1);
  await admitted(itemAt(threads, 0), 10n);
  (await admitted(itemAt(threads, 0), 10n)).charge({ ...CHARGE, amount: 7n });
  assertEquals((await store.balance("acme")).available, 999_993n);
});

Deno.test("leases: what a thread leases and does not use is taken back before a call is refused", async () => {
  const { threads, meter } = await meterStage(1_000n, 2);
  const [one, other] = [itemAt(threads, 0), itemAt(threads, 1)];
  await admitted(one, 1n);
  await admitted(one, 1n);
  assert(meter.reserved("acme") > 20n);
  const last = await admitted(other, 998n);
  assertEquals(await tried(one, 1n), "insufficient_credits");
  last.release();
  await admitted(one, 998n);
  assertEquals(meter.reserved("acme"), 1_000n);
});

Deno.test("leases: 200 calls at once over two threads are admitted as often as a budget covers", async () => {
  for (const calls of [3, 20, 100]) {
    const { threads } = await meterStage(1_000_000n, 2);
    const caller = limited({ budget: { amount: BigInt(calls) * 10n, per: "total" } });
    const results = await Promise.all(
      Array.from({ length: 200 }, (_, n) => tried(itemAt(threads, n % 2), 10n, caller)),
    );
    assertEquals(countOf(results), calls);
    assertEquals(new Set(results.filter((one) => typeof one === "string")), new Set(["insufficient_credits"]));
  }
});

Deno.test("leases: calls at once over two threads do not pass a limit together, and use all of it", async () => {
  const cases: [AccessLimits, number][] = [
    [{ rpm: 3 }, 3],
    [{ rpm: 600 }, 600],
    [{ tpm: 5_000 }, 500],
    [{ concurrency: 4 }, 4],
    [{ concurrency: 700 }, 700],
  ];
  for (const [limits, count] of cases) {
    const { threads, meter } = await meterStage(1_000_000n, 2);
    const caller = limited(limits);
    const results: (Admission | string)[] = [];
    for (let at = 0; at < 900; at += 30) {
      results.push(
        ...await Promise.all(Array.from({ length: 30 }, (_, n) => tried(itemAt(threads, n % 2), 10n, caller))),
      );
    }
    assertEquals(countOf(results), count, JSON.stringify(limits));
    assertEquals(new Set(results.filter((one) => typeof one === "string")), new Set(["rate_limited"]));
    await meter.recall("acme");
    assertEquals(meter.openCalls("acme"), count);
  }
});

Deno.test("leases: the open calls of an account are limited over all threads", async () => {
  const { threads } = await meterStage(1_000_000n, 2, { accountConcurrency: () => 600 });
  const results = [];
  for (let at = 0; at < 700; at += 10) {
    results.push(...await Promise.all(Array.from({ length: 10 }, (_, n) => tried(itemAt(threads, n % 2), 1n))));
  }
  assertEquals(countOf(results), 600);
});

Deno.test("leases: calls that are open when a limit is set count against it", async () => {
  const { threads, meter, settle } = await meterStage(1_000_000n, 2);
  const [one, other] = [itemAt(threads, 0), itemAt(threads, 1)];
  const open = [await admitted(one, 10n), await admitted(one, 10n), await admitted(one, 10n)];
  one.meter.endAccount("acme");
  await settle();
  assertEquals([meter.openCalls("acme"), meter.reserved("acme")], [3, 30n]);
  const caller = limited({ concurrency: 3 });
  assertEquals(await tried(other, 10n, caller), "rate_limited");
  itemAt(open, 2).release();
  await admitted(other, 10n, caller);
});

Deno.test("leases: other limits of a key end its lease", async () => {
  const { threads } = await meterStage(1_000_000n, 1);
  const thread = itemAt(threads, 0);
  await admitted(thread, 10n);
  const caller = limited({ rpm: 2 });
  const results = [];
  for (let n = 0; n < 5; n++) results.push(await tried(thread, 10n, caller));
  assertEquals(countOf(results), 2);
});

Deno.test("leases: one that is not used is given back, also while a call is open", async () => {
  const { clock, threads, meter, settle } = await meterStage(1_000_000n, 1);
  await admitted(itemAt(threads, 0), 10n);
  await admitted(itemAt(threads, 0), 10n);
  for (let n = 0; n < 3; n++) {
    clock.advance(1_500);
    await settle();
  }
  assertEquals([meter.openCalls("acme"), meter.reserved("acme")], [2, 20n]);
});

Deno.test("leases: while the store takes no writes, the main thread decides", async () => {
  const { threads } = await meterStage(1_000_000n, 1);
  const thread = itemAt(threads, 0);
  await admitted(thread, 10n);
  thread.isWritable = false;
  assert(thread.meter.admit(CALLER, 10n) instanceof Promise);
});

Deno.test("leases: a charge that the journal does not take is durable when it is in the ledger", async () => {
  const { threads, store, settle } = await meterStage(1_000_000n, 1);
  const thread = itemAt(threads, 0);
  await admitted(thread, 10n);
  const call = await admitted(thread, 10n);
  thread.fails = true;
  await call.charge({ ...CHARGE, amount: 9n });
  assertEquals((await store.ledger("acme", { limit: 10 })).filter(({ operation }) => operation === "charge").length, 1);
  await settle();
});

Deno.test("leases: a thread that ends leaves its charges in its journal, and nothing reserved", async () => {
  const { threads, store, meter } = await meterStage(1_000_000n, 2);
  const thread = itemAt(threads, 0);
  await admitted(thread, 10n);
  await admitted(thread, 10n);
  for (let n = 0; n < 3; n++) (await admitted(thread, 10n)).charge({ ...CHARGE, amount: 4n });
  thread.isOver = true;
  assertEquals((await replayCharges(store, [...thread.journal.values()].flat())).written, 1);
  for (const account of thread.lessor.end()) meter.invalidate(account);
  assertEquals((await store.balance("acme")).available, 1_000_000n - 12n);
  (await admitted(itemAt(threads, 1), 1_000_000n - 12n - 10n)).release(); // one was admitted on the main thread
  assertEquals((await verifyLedger(store)).differences, []);
});

Deno.test("leases: an account that is overdrawn too far ends the calls of leases", async () => {
  const { clock, threads, settle } = await meterStage(20_000n, 1);
  const thread = itemAt(threads, 0);
  (await admitted(thread, 10n)).release();
  const calls = [await admitted(thread, 10n), await admitted(thread, 10n)];
  let ended = 0;
  for (const call of calls) call.onOverdrawn(() => ended++);
  const greedy = await admitted(thread, 10n);
  greedy.charge({ ...CHARGE, amount: 20_005n });
  clock.advance(40);
  await settle();
  assertEquals(ended, 0);
  assertEquals(await tried(thread, 0n), "insufficient_credits"); // the lease has ended
  itemAt(calls, 0).charge({ ...CHARGE, amount: 20n });
  clock.advance(40);
  await settle();
  assertEquals(ended, 1);
});

Deno.test("leases: threads never reserve and charge more than the credit together, and the ledger is exact", async () => {
  const step = fc.oneof(
    { weight: 6, arbitrary: fc.tuple(fc.constant("admit" as const), fc.nat(2), fc.bigInt(1n, 40n)) },
    { weight: 4, arbitrary: fc.tuple(fc.constant("end" as const), fc.nat(20), fc.bigInt(0n, 100n)) },
    { weight: 1, arbitrary: fc.tuple(fc.constant("large" as const), fc.nat(2), fc.bigInt(100n, 2_000n)) },
    { weight: 1, arbitrary: fc.tuple(fc.constant("pass" as const), fc.nat(4), fc.constant(0n)) },
  );
  await fc.assert(
    fc.asyncProperty(fc.array(step, { maxLength: 60 }), async (steps) => {
      const { clock, store, meter, threads, settle } = await meterStage(2_000n, 3);
      const open: Admission[] = [];
      const begun: Promise<unknown>[] = [];
      let charged = 0n;
      for (const [kind, n, amount] of steps) {
        if (kind === "end") {
          const [one] = open.splice(n % Math.max(open.length, 1), 1);
          if (one === undefined) continue;
          const cost = one.reserved.amount * amount / 100n;
          charged += cost;
          void one.charge({ ...CHARGE, amount: cost });
        } else if (kind === "pass") {
          clock.advance(n * 500);
        } else {
          begun.push(tried(itemAt(threads, n), amount).then((one) => void (typeof one !== "string" && open.push(one))));
          if (n === 0) await Promise.all(begun); // otherwise calls of several threads are under way at once
        }
        const reserved = open.reduce((sum, one) => sum + one.reserved.amount, 0n);
        assert(reserved + charged <= 2_000n);
        assert(reserved <= meter.reserved("acme"));
      }
      await Promise.all(begun);
      for (const one of open) one.release();
      await meter.recall("acme");
      await settle();
      assertEquals([meter.reserved("acme"), meter.openCalls("acme")], [0n, 0]);
      assertEquals((await store.balance("acme")).available, 2_000n - charged);
      assertEquals((await verifyLedger(store)).differences, []);
      if (charged < 2_000n) (await admitted(itemAt(threads, 1), 2_000n - charged)).release();
    }),
    { numRuns: 100 },
  );
});

Deno.test("leases: a negative charge is refused", async () => {
  const { threads } = await meterStage(1_000_000n, 1);
  await admitted(itemAt(threads, 0), 10n);
  const call = await admitted(itemAt(threads, 0), 10n);
  await assertRejects(async () => await call.charge({ ...CHARGE, amount: -1n }), RangeError);
});
