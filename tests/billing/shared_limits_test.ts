import { assert, assertEquals } from "@std/assert";
import fc from "fast-check";
import { createAccount } from "../../src/money/billing/accounts/account.ts";
import { createMeter } from "../../src/money/billing/meter/create_meter.ts";
import { type Admission, fixedReservation, type LedgerMeter } from "../../src/money/billing/meter/meter.ts";
import { recallingMeter } from "../../src/money/billing/meter/recalling_meter.ts";
import { ShareRecall } from "../../src/platform/store/share_recall.ts";
import { UsageRollup } from "../../src/money/billing/usage/usage_rollup.ts";
import { GatewayError } from "../../src/platform/lib/basics/gateway_error.ts";
import { silentLog } from "../../src/platform/lib/basics/log.ts";
import type { Money } from "../../src/platform/lib/basics/money.ts";
import type { AccessLimits } from "../../src/money/limits/access_limits.ts";
import type { LimitedCaller } from "../../src/money/limits/limited_caller.ts";
import { itemAt } from "../support/items.ts";
import { openMemoryStore } from "../support/memory_store.ts";
import { WakeChannel } from "../support/wake_channel.ts";
import { leasesOver } from "../support/money_leases.ts";
import { SharedLimits } from "../support/share_leases.ts";
import { type ManualClock, manualClock } from "./support.ts";
import { untilSo } from "../support/patience.ts";

interface Shared {
  readonly clock: ManualClock;
  readonly limits: SharedLimits;
  readonly channel: WakeChannel;
  readonly money: ReturnType<typeof leasesOver>;
  readonly meters: readonly LedgerMeter[];
  readonly spent: () => Promise<Money>;
}

/** Meters of several processes over one store and the same limits, and the same money if it is leased. */
async function shared(count: number, isMoneyLeased = false, balance = 1_000_000n): Promise<Shared> {
  const clock = manualClock();
  const store = await openMemoryStore({ clock });
  await createAccount(store, { id: "acme", balance });
  const limits = new SharedLimits(clock);
  const channel = new WakeChannel();
  const money = leasesOver(store, clock);
  const meters = Array.from({ length: count }, (_, n) => {
    const rollup = new UsageRollup({ store, clock, log: silentLog });
    const readSpent = rollup.spentSince.bind(rollup);
    const leases = isMoneyLeased ? money.of(String(n)) : null;
    const shareLeases = limits.of(String(n));
    const gateways = () => count;
    const meter = createMeter({ store, clock, log: silentLog, readSpent, leases, shareLeases, gateways });
    return recallingMeter(meter, new ShareRecall({ store: channel.member(), clock, gateways }));
  });
  return {
    clock,
    limits,
    channel,
    money,
    meters,
    spent: async () => balance - (await store.balance("acme")).available,
  };
}

function callerOf(key: AccessLimits, account: AccessLimits = {}): LimitedCaller {
  return { keyId: "key_1", accountId: "acme", limits: { key, account } };
}

/** The time in which leases that are not in use are returned. */
async function looks(clock: ManualClock): Promise<void> {
  for (let n = 0; n < 3; n++) {
    clock.advance(3_000);
    await new Promise((resolve) => setTimeout(resolve));
  }
}

async function tried(
  meter: LedgerMeter,
  caller: LimitedCaller,
  { amount = 1n, tokens }: { amount?: Money; tokens?: number } = {},
): Promise<Admission | string> {
  try {
    return await meter.admit(caller, fixedReservation(amount, tokens));
  } catch (error) {
    assert(error instanceof GatewayError, String(error));
    return error.code;
  }
}

function chargeOf(amount: Money, tokens = 0) {
  const usage = { freshTokens: tokens };
  return { requestId: "r", keyId: "key_1", kind: "text", model: "m", provider: "p", amount, usage } as const;
}

const isAdmission = (one: Admission | string) => typeof one !== "string";

Deno.test("processes admit no more requests a minute together than the limit", async () => {
  for (const caller of [callerOf({ rpm: 10 }), callerOf({}, { rpm: 10 })]) {
    const { meters, clock } = await shared(3);
    const round = async () => {
      const results = await Promise.all(Array.from({ length: 24 }, (_, n) => tried(itemAt(meters, n % 3), caller)));
      for (const one of results) if (typeof one !== "string") one.release();
      return results.filter(isAdmission).length;
    };
    assertEquals(await round(), 10);
    clock.advance(1_000);
    assertEquals(await round(), 0);
    clock.advance(59_000);
    assertEquals(await round(), 10);
  }
});

Deno.test("many calls at once that lease money and limits are admitted up to the limit, and the others refused by it", async () => {
  const { meters, limits, money } = await shared(2, true);
  const later = () => new Promise<void>((resolve) => setTimeout(resolve, Math.random() * 3));
  limits.before = later;
  money.before.wait = later;
  const caller = callerOf({ rpm: 7, tpm: 1_000_000, concurrency: 1_000 }, { rpm: 1_000 });
  const calls = Array.from({ length: 60 }, (_, n) => tried(itemAt(meters, n % 2), caller, { amount: 10n, tokens: 5 }));
  const results = await Promise.all(calls);
  assertEquals(results.filter(isAdmission).length, 7);
  assertEquals(new Set(results.filter((one) => !isAdmission(one))), new Set(["rate_limited"]));
});

Deno.test("processes have no more calls open together than the limit of concurrency", async () => {
  const caller = callerOf({ concurrency: 5 });
  const { meters, clock } = await shared(2);
  const results = await Promise.all(Array.from({ length: 12 }, (_, n) => tried(itemAt(meters, n % 2), caller)));
  const open = results.filter((one) => typeof one !== "string");
  assertEquals(open.length, 5);
  for (const one of open) one.release();
  await looks(clock);
  const next = await Promise.all(Array.from({ length: 5 }, () => tried(itemAt(meters, 1), caller)));
  assertEquals(next.filter(isAdmission).length, 5);
});

Deno.test("open calls keep their part of the concurrency for as long as they are open", async () => {
  const caller = callerOf({ concurrency: 2 });
  const { meters, clock } = await shared(2);
  for (const one of [await tried(itemAt(meters, 0), caller), await tried(itemAt(meters, 0), caller)]) {
    assert(isAdmission(one));
  }
  for (let n = 0; n < 40; n++) {
    clock.advance(3_000);
    await new Promise((resolve) => setTimeout(resolve));
    assertEquals(await tried(itemAt(meters, 1), caller), "rate_limited");
  }
});

Deno.test("processes use no more tokens a minute together than the limit", async () => {
  const caller = callerOf({ tpm: 1_000 });
  const { meters } = await shared(2);
  let used = 0;
  const results = await Promise.all(
    Array.from({ length: 16 }, (_, n) => tried(itemAt(meters, n % 2), caller, { tokens: 100 })),
  );
  for (const one of results) {
    if (typeof one === "string") continue;
    await one.charge(chargeOf(1n, 100));
    used += 100;
  }
  assertEquals(used, 1_000);
  assertEquals(await tried(itemAt(meters, 0), caller, { tokens: 100 }), "rate_limited");
});

Deno.test("a free request is limited over all processes", async () => {
  const caller = callerOf({ rpm: 3 });
  const { meters, limits } = await shared(2);
  limits.before = () => new Promise((resolve) => setTimeout(resolve, Math.random() * 3));
  const results = await Promise.all(Array.from({ length: 40 }, async (_, n) => {
    try {
      (await itemAt(meters, n % 2).admitFree(caller)).release();
      return true;
    } catch (error) {
      assert(error instanceof GatewayError && error.code === "rate_limited", String(error));
      return false;
    }
  }));
  assertEquals(results.filter((one) => one).length, 3);
});

Deno.test("far from a limit, most calls are admitted without the store", async () => {
  const caller = callerOf({ rpm: 10_000, concurrency: 1_000, budget: { amount: 100_000n, per: "total" } });
  const { meters, limits } = await shared(2);
  const meter = itemAt(meters, 0);
  assert(isAdmission(await tried(meter, caller)));
  const { demands } = limits;
  for (let n = 0; n < 50; n++) assert(!(meter.admit(caller, 1n) instanceof Promise));
  assertEquals(limits.demands, demands);
});

Deno.test("a limit of zero refuses, and a caller that asks again costs no demand", async () => {
  const { meters, limits } = await shared(1);
  for (const limit of [{ rpm: 0 }, { concurrency: 0 }]) {
    assertEquals(await tried(itemAt(meters, 0), callerOf(limit)), "rate_limited");
    const { demands } = limits;
    assertEquals(await tried(itemAt(meters, 0), callerOf(limit)), "rate_limited");
    assertEquals(limits.demands, demands);
  }
});

Deno.test("what a budget has left is spent to the end by all processes, and no further", async () => {
  const caller = callerOf({ budget: { amount: 100n, per: "day" } });
  const { meters, spent, clock } = await shared(3);
  const round = () =>
    Promise.all(Array.from({ length: 30 }, async (_, n) => {
      const call = await tried(itemAt(meters, n % 3), caller, { amount: 7n });
      if (typeof call === "string") return call;
      await call.charge(chargeOf(7n));
      return null;
    }));
  const results = await round();
  assertEquals(new Set(results), new Set([null, "insufficient_credits"]));
  await looks(clock);
  results.push(...await round()); // charges that were in the leases of others too
  assertEquals(results.filter((one) => one === null).length, 14);
  await Promise.all(meters.map((meter) => meter.flush()));
  assertEquals(await spent(), 98n);
});

Deno.test("calls with the former and the new period of a budget are admitted side by side by all processes", async () => {
  const ofPeriod = (amount: Money, per: "day" | "week") => callerOf({ budget: { amount, per } });
  const { meters, limits, clock } = await shared(2);
  limits.before = () => new Promise((resolve) => setTimeout(resolve, Math.random() * 3));
  const [day, week] = [ofPeriod(60n, "day"), ofPeriod(100n, "week")];
  const round = (callers: readonly LimitedCaller[], count: number) =>
    Promise.all(
      Array.from(
        { length: count },
        (_, n) => tried(itemAt(meters, n % 2), itemAt(callers, Math.floor(n / 2) % callers.length), { amount: 7n }),
      ),
    );
  const open = await round([day, week], 8);
  assertEquals(open.filter(isAdmission).length, 8);
  // What is open of both counts towards each: 56 of 60, and of 100.
  assertEquals(await round([day], 4), Array(4).fill("insufficient_credits"));
  for (const one of open) if (typeof one !== "string") one.release();
  // The former budget is no longer leased once nothing asks for it.
  for (let n = 0; n < 120; n++) {
    clock.advance(3_000);
    await new Promise((resolve) => setTimeout(resolve, 4));
    if (n % 10 === 0) { for (const one of await round([week], 2)) if (typeof one !== "string") one.release(); }
  }
  const { demands } = limits;
  assertEquals((await round([day], 1)).filter(isAdmission).length, 1);
  assert(limits.demands > demands, "the former budget was leased all the time");
});

Deno.test("processes never spend more than a budget together, whatever they do at once", async () => {
  const step = fc.oneof(
    { weight: 5, arbitrary: fc.tuple(fc.constant("admit" as const), fc.nat(2), fc.bigInt(1n, 300n)) },
    { weight: 3, arbitrary: fc.tuple(fc.constant("end" as const), fc.nat(20), fc.bigInt(0n, 100n)) },
    { weight: 1, arbitrary: fc.tuple(fc.constant("pass" as const), fc.nat(4), fc.constant(0n)) },
    { weight: 1, arbitrary: fc.tuple(fc.constant("wait" as const), fc.constant(0), fc.constant(0n)) },
  );
  const limits = { budget: { amount: 1_000n, per: "total" } } as const;
  await fc.assert(
    fc.asyncProperty(fc.array(step, { maxLength: 40 }), fc.boolean(), async (steps, isOfKey) => {
      const caller = isOfKey ? callerOf(limits) : callerOf({}, limits);
      const { clock, meters, spent } = await shared(3);
      const open = new Set<Admission>();
      const begun: Promise<unknown>[] = [];
      const charged: unknown[] = [];
      let paid = 0n;
      for (const [kind, n, amount] of steps) {
        if (kind === "admit") {
          const rule = reservedBy(itemAt(meters, n), caller, amount);
          begun.push(rule.then((one) => one !== null && open.add(one)));
          if (n === 0) await Promise.all(begun);
        } else if (kind === "end") {
          const one = [...open][n % Math.max(open.size, 1)];
          if (one === undefined) continue;
          open.delete(one);
          const cost = one.reserved.amount * amount / 100n;
          paid += cost;
          charged.push(one.charge(chargeOf(cost)));
        } else if (kind === "pass") clock.advance(n * 1_000);
        else await new Promise((resolve) => setTimeout(resolve));
        let reserved = 0n;
        for (const one of open) reserved += one.reserved.amount;
        assert(paid + reserved <= 1_000n, `${paid} + ${reserved}`);
      }
      await Promise.all(begun);
      await Promise.all(charged);
      for (const one of open) one.release();
      await Promise.all(meters.map((meter) => meter.flush()));
      const left = 1_000n - await spent();
      assert(left >= 0n);
      clock.advance(1_000);
      if (left > 0n) assert(await reservedBy(itemAt(meters, 1), caller, left) !== null);
    }),
    { numRuns: 100 },
  );
});

async function reservedBy(meter: LedgerMeter, caller: LimitedCaller, amount: Money): Promise<Admission | null> {
  try {
    return await meter.admit(caller, amount);
  } catch (error) {
    assert(error instanceof GatewayError && error.code === "insufficient_credits", String(error));
    return null;
  }
}

for (
  const [name, caller, count] of [
    ["concurrency 1", callerOf({ concurrency: 1 }), 45],
    ["concurrency 1 of the account", callerOf({}, { concurrency: 1 }), 45],
    ["concurrency 11", callerOf({ concurrency: 11 }), 45],
    ["rpm 45", callerOf({ rpm: 45 }), 45],
    ["tpm 450", callerOf({ tpm: 450 }), 45],
    ["a budget for 45", callerOf({ budget: { amount: 45n, per: "total" } }), 45],
    ["a balance for 45", callerOf({}), 45],
  ] as const
) {
  Deno.test(`processes refuse no call that is made after the one before: ${name}`, async () => {
    const { meters, clock } = await shared(3, true, name === "a balance for 45" ? 45n : 1_000_000n);
    for (let n = 0; n < count; n++) {
      const one = await tried(itemAt(meters, n % 3), caller, { amount: 1n, tokens: 10 });
      assert(typeof one !== "string", `${name}: call ${n} was refused: ${one}`);
      await one.charge(chargeOf(1n, 10));
    }
    if (name.startsWith("concurrency")) return;
    const further = tried(itemAt(meters, 0), caller, { amount: 1n, tokens: 10 });
    clock.advance(200); // the wait, if an answer is missing
    assertEquals(typeof await further, "string", name);
  });
}

Deno.test("a call that the limit refuses waits for the others at most 200 ms", async () => {
  const { meters, clock, channel } = await shared(2);
  const caller = callerOf({ concurrency: 1 });
  const open = await tried(itemAt(meters, 0), caller);
  assert(isAdmission(open));
  channel.isCut = true;
  let result: Admission | string | null = null;
  const refused = tried(itemAt(meters, 1), caller).then((one) => result = one);
  await untilSo(() => channel.sent !== 0);
  clock.advance(199);
  await new Promise((resolve) => setTimeout(resolve));
  assertEquals(result, null);
  clock.advance(1);
  assertEquals(await refused, "rate_limited");
  const sent = channel.sent;
  assertEquals(await tried(itemAt(meters, 1), caller), "rate_limited");
  assertEquals(channel.sent, sent, "calls that ask too often send no message");
});

Deno.test("many calls at once near the end of a budget are admitted or refused by it", async () => {
  for (const isMoneyLeased of [false, true]) {
    const { meters, limits, money, clock } = await shared(3, isMoneyLeased);
    const later = () => new Promise<void>((resolve) => setTimeout(resolve, Math.random() * 3));
    limits.before = later;
    money.before.wait = later;
    const caller = callerOf({ budget: { amount: 100n, per: "total" } });
    let isOver = false;
    const calls = Promise.all(Array.from({ length: 30 }, async (_, n) => {
      const one = await tried(itemAt(meters, n % 3), caller, { amount: 23n });
      if (typeof one === "string") return one;
      await one.charge(chargeOf(9n));
      return "admitted";
    })).finally(() => isOver = true);
    while (!isOver) {
      await new Promise((resolve) => setTimeout(resolve, 1));
      clock.advance(1);
    }
    const counts = Object.groupBy(await calls, (one) => one);
    assertEquals(new Set(Object.keys(counts)), new Set(["admitted", "insufficient_credits"]), JSON.stringify(counts));
  }
});
