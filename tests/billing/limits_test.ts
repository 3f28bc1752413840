import { assert, assertEquals, assertRejects } from "@std/assert";
import fc from "fast-check";
import { createAccount } from "../../src/money/billing/accounts/account.ts";
import { addHold, captureHold, readHold, releaseHold } from "../../src/money/billing/hold.ts";
import { createMeter } from "../../src/money/billing/meter/create_meter.ts";
import type { Admission, Charge, LedgerMeter } from "../../src/money/billing/meter/meter.ts";
import { UsageRollup } from "../../src/money/billing/usage/usage_rollup.ts";
import { GatewayError } from "../../src/platform/lib/basics/gateway_error.ts";
import { silentLog } from "../../src/platform/lib/basics/log.ts";
import type { Money } from "../../src/platform/lib/basics/money.ts";
import type { AccessLimits } from "../../src/money/limits/access_limits.ts";
import type { LimitedCaller } from "../../src/money/limits/limited_caller.ts";
import type { Store } from "../../src/platform/store/store.ts";
import { changedStore } from "../../src/platform/store/changed_store.ts";
import { openKvStore } from "../../src/platform/store/kv/open_kv_store.ts";
import { itemAt } from "../support/items.ts";
import { openMemoryStore } from "../support/memory_store.ts";
import { ManualClock } from "../support/manual_clock.ts";
import { observeStore } from "./support.ts";

/** 2026-11-22, a Sunday, at noon. */
const NOON = Date.parse("2026-11-22T12:00:00Z");
const DAY = 86_400_000;
const BALANCE = 1_000_000n;

interface Setup {
  readonly clock: ManualClock;
  readonly store: Store;
  readonly meter: LedgerMeter;
  /** A meter of another process over the same store. */
  restarted(): LedgerMeter;
}

async function withMeter(
  test: (setup: Setup) => Promise<void>,
  options: { readonly accountConcurrency?: () => number; readonly balance?: Money } = {},
): Promise<void> {
  const clock = new ManualClock(NOON);
  const store = await openKvStore({ path: ":memory:", clock, log: silentLog });
  try {
    await createAccount(store, { id: "acme", balance: options.balance ?? BALANCE });
    const rollup = new UsageRollup({ store, clock, log: silentLog });
    const readSpent = rollup.spentSince.bind(rollup);
    const restarted = () => createMeter({ ...options, store, clock, log: silentLog, readSpent });
    const meter = restarted();
    await test({ clock, store, meter, restarted });
    await meter.flush();
  } finally {
    await store.close();
  }
}

function caller(key: AccessLimits, account: AccessLimits = {}, keyId = "key_1"): LimitedCaller {
  return { keyId, accountId: "acme", limits: { key, account } };
}

function budgetOf(amount: Money, per: "day" | "week" | "month" | "total" = "total"): AccessLimits {
  return { budget: { amount, per } };
}

function chargeOf(amount: Money, tokens = 0, keyId = "key_1"): Charge {
  const usage = { freshTokens: tokens };
  return { requestId: "req_1", keyId, kind: "text", model: "acme/large", provider: "acme", amount, usage };
}

/** The admission, or the error that refused it. */
async function tried(admit: () => Admission | Promise<Admission>): Promise<Admission | GatewayError> {
  try {
    return await admit();
  } catch (error) {
    assert(error instanceof GatewayError);
    return error;
  }
}

function admitted(results: readonly (Admission | GatewayError)[]): Admission[] {
  return results.filter((each): each is Admission => !(each instanceof GatewayError));
}

async function refusal(admit: () => Admission | Promise<Admission>): Promise<GatewayError> {
  const result = await tried(admit);
  assert(result instanceof GatewayError);
  return result;
}

Deno.test("of 200 parallel requests on a budget for 3, exactly 3 pass", () =>
  withMeter(async ({ meter }) => {
    for (const limited of [caller(budgetOf(39n)), caller({}, budgetOf(69n), "key_2")]) {
      const results = await Promise.all(Array.from({ length: 200 }, () => tried(() => meter.admit(limited, 10n))));
      assertEquals(admitted(results).length, 3);
      for (const each of admitted(results)) await each.charge(chargeOf(10n, 0, limited.keyId));
      assertEquals((await refusal(() => meter.admit(limited, 10n))).code, "insufficient_credits");
      (await meter.admit(limited, 9n)).release();
    }
  }));

Deno.test("of 200 parallel requests on a limit for 3, exactly 3 pass, of the key or of the account", () =>
  withMeter(async ({ meter }) => {
    const limits: AccessLimits[] = [{ rpm: 3 }, { tpm: 39 }, { concurrency: 3 }];
    for (const [number, limit] of limits.entries()) {
      const rule = () => ({ amount: 1n, outputLimit: null, tokens: 10 });
      const results = await Promise.all(
        Array.from({ length: 200 }, () => tried(() => meter.admit(caller(limit, {}, `key_${number}`), rule))),
      );
      assertEquals(admitted(results).length, 3);
      for (const each of results) if (each instanceof GatewayError) assertEquals(each.code, "rate_limited");
      for (const each of admitted(results)) each.release();
    }
    const shared = ["a", "b", "c"].map((keyId) => caller({}, { rpm: 3 }, keyId));
    const results = await Promise.all(shared.flatMap((each) => [1, 2].map(() => tried(() => meter.admit(each, 1n)))));
    assertEquals(admitted(results).length, 3);
  }));

Deno.test("reservations and charges of any walk never exceed a budget, unless more is charged than was reserved", async () => {
  const action = fc.record({
    key: fc.constantFrom("key_1", "key_2"),
    reserve: fc.bigInt({ min: 0n, max: 40n }),
    end: fc.nat(3),
    part: fc.bigInt({ min: 0n, max: 100n }),
    pauseMs: fc.constantFrom(0, 0, 0, 10 * 60_000),
    restarts: fc.constantFrom(false, false, false, false, true),
  });
  await fc.assert(
    fc.asyncProperty(fc.array(action, { maxLength: 40 }), async (walk) => {
      await withMeter(async ({ clock, meter: first, restarted }) => {
        let meter = first;
        const open: { admission: Admission; reserved: Money; key: string }[] = [];
        const spent: Record<string, Money> = { key_1: 0n, key_2: 0n };
        const reservedBy = (key: string) =>
          open.reduce((sum, each) => each.key === key ? sum + each.reserved : sum, 0n);
        for (const { key, reserve, end, part, pauseMs, restarts } of walk) {
          clock.stall(pauseMs);
          const limited = caller(budgetOf(100n), budgetOf(150n), key);
          const used = (spent[key] ?? 0n) + reservedBy(key);
          const usedByAll = ["key_1", "key_2"].reduce((sum, each) => sum + (spent[each] ?? 0n) + reservedBy(each), 0n);
          const result = await tried(() => meter.admit(limited, reserve));
          const fits = reserve === 0n || (used + reserve <= 100n && usedByAll + reserve <= 150n);
          assertEquals(!(result instanceof GatewayError), fits);
          if (!(result instanceof GatewayError)) open.push({ admission: result, reserved: reserve, key });
          if (end === 0 && open.length > 0) itemAt(open.splice(0, 1), 0).admission.release();
          if (end === 1 && open.length > 0) {
            const ended = itemAt(open.splice(0, 1), 0);
            const amount = ended.reserved * part / 100n;
            await ended.admission.charge(chargeOf(amount, 0, ended.key));
            spent[ended.key] = (spent[ended.key] ?? 0n) + amount;
          }
          if (restarts) { // Reservations of the process that ended are gone.
            open.length = 0;
            meter = restarted();
          }
        }
      });
    }),
    { numRuns: 30 },
  );
});

Deno.test("a charge above its reservation counts in full, and the budget has nothing left", () =>
  withMeter(async ({ meter }) => {
    const limited = caller(budgetOf(100n));
    await (await meter.admit(limited, 10n)).charge(chargeOf(250n));
    const { key } = await meter.limitsLeft(limited);
    assertEquals([key.budget?.left, key.budget?.resetAt], [-150n, null]);
    const error = await refusal(() => meter.admit(limited, 1n));
    assertEquals(error.status, 402);
    assertEquals(
      error.message,
      "Cannot accept the request: it may cost up to 0.0000000001 USD, and the budget of the key, 0.0000000100 USD in " +
        "total, has 0.0000000000 USD left; it does not reset",
    );
  }));

Deno.test("a budget of zero admits only what costs nothing", () =>
  withMeter(async ({ meter }) => {
    const limited = caller(budgetOf(0n));
    assertEquals((await refusal(() => meter.admit(limited, 1n))).code, "insufficient_credits");
    (await meter.admit(limited, 0n)).release();
    meter.admitFree(limited);
  }));

Deno.test("a budget starts again with the next period, and counts what is charged in it", () =>
  withMeter(async ({ clock, meter }) => {
    for (const [per, length] of [["day", 1], ["week", 1], ["month", 9]] as const) {
      const limited = caller(budgetOf(10n, per), {}, per);
      await (await meter.admit(limited, 10n)).charge(chargeOf(10n, 0, per));
      const error = await refusal(() => meter.admit(limited, 1n));
      const reset = NOON + length * DAY - 12 * 3_600_000;
      assert(error.message.endsWith(`left; it resets at ${new Date(reset).toISOString().slice(0, 19)}Z`));
      const across = caller(budgetOf(10n, per), {}, `${per}_across`);
      const open = await meter.admit(across, 10n);
      clock.stall(reset - clock.now());
      (await meter.admit(limited, 10n)).release();
      await open.charge(chargeOf(10n, 0, `${per}_across`));
      await refusal(() => meter.admit(across, 1n));
      clock.set(NOON);
    }
  }));

for (const holder of ["key", "account"] as const) {
  Deno.test(`calls with the former and the new period of a budget of the ${holder} are admitted side by side`, async () => {
    const clock = new ManualClock(NOON);
    const store = await openMemoryStore({ clock });
    await createAccount(store, { id: "acme", balance: BALANCE });
    let reads = 0;
    const readSpent = () => {
      assert(++reads < 1_000, "the amounts spent are read again and again");
      return Promise.resolve({ charged: 0n, held: 0n });
    };
    const meter = createMeter({ store, clock, log: silentLog, readSpent });
    const limitedBy = (limits: AccessLimits) => holder === "key" ? caller(limits) : caller({}, limits);
    const [day, week] = [limitedBy(budgetOf(60n, "day")), limitedBy(budgetOf(100n, "week"))];
    const calls = Array.from({ length: 15 }, (_, n) => meter.admit(n % 2 === 0 ? day : week, 1n));
    const open = await Promise.all(calls);
    assertEquals(reads, 2);
    // What is open counts towards both.
    assertEquals([await leftOf(meter, day), await leftOf(meter, week)], [45n, 85n]);
    for (const each of open) await each.charge(chargeOf(1n));
    assertEquals([await leftOf(meter, day), await leftOf(meter, week)], [45n, 85n]);
    await meter.flush();
  });
}

/** What the budget of a caller has left, of its key or its account. */
async function leftOf(meter: LedgerMeter, limited: LimitedCaller): Promise<Money | undefined> {
  const { key, account } = await meter.limitsLeft(limited);
  return (key.budget ?? account.budget)?.left;
}

Deno.test("a call during whose reads others always change the balance is refused with storage_unavailable", async () => {
  const clock = new ManualClock(NOON);
  const store = await openMemoryStore({ clock });
  await createAccount(store, { id: "acme", balance: BALANCE });
  let reads = 0;
  const changing = () => {
    assert(++reads < 1_000, "the balance is read again and again");
    meter.invalidate("acme");
  };
  const observed = changedStore(store, {
    balance(account) {
      changing();
      return store.balance(account);
    },
  });
  const readSpent = () => {
    changing();
    return Promise.resolve({ charged: 0n, held: 0n });
  };
  const meter: LedgerMeter = createMeter({ store: observed, clock, log: silentLog, readSpent });
  assertEquals((await refusal(() => meter.admit(caller(budgetOf(10n)), 1n))).code, "storage_unavailable");
});

Deno.test("a clock that is set back refills neither a budget nor a rate", () =>
  withMeter(async ({ clock, meter }) => {
    const limited = caller({ ...budgetOf(10n, "day"), rpm: 2 });
    await (await meter.admit(limited, 10n)).charge(chargeOf(10n));
    clock.set(NOON - 3_600_000);
    await refusal(() => meter.admit(limited, 1n));
    clock.set(NOON - 30 * DAY);
    clock.set(NOON);
    await refusal(() => meter.admit(limited, 1n));
    (await meter.admit(limited, 0n)).release();
    clock.set(NOON - DAY);
    assertEquals((await refusal(() => meter.admit(limited, 0n))).code, "rate_limited");
  }));

Deno.test("a restart keeps what was spent, and open holds count again", () =>
  withMeter(async ({ store, meter, restarted, clock }) => {
    const limited = caller(budgetOf(100n, "month"));
    await (await meter.admit(limited, 30n)).charge(chargeOf(30n));
    const hold = { account: "acme", reference: "vid_1", amount: 50n, detail: { key: "key_1" } };
    await store.commit(null, addHold({}, hold, clock.now()));
    for (const each of [restarted(), restarted()]) {
      assertEquals((await each.limitsLeft(limited)).key.budget?.left, 20n);
      await refusal(() => each.admit(limited, 21n));
      (await each.admit(limited, 20n)).release();
    }
    const open = await readHold(store, "vid_1");
    assert(open !== null);
    await store.commit(null, captureHold({}, open, 40n, clock.now(), { key: "key_1" }).commit);
    meter.invalidate("acme");
    assertEquals((await meter.limitsLeft(limited)).key.budget?.left, 30n);
    clock.stall(9 * DAY);
    assertEquals((await restarted().limitsLeft(limited)).key.budget?.left, 100n);
  }));

Deno.test("a hold that is released leaves its budget as it was", () =>
  withMeter(async ({ store, meter, clock }) => {
    const limited = caller(budgetOf(100n));
    await store.commit(
      null,
      addHold({}, { account: "acme", reference: "vid_1", amount: 50n, detail: { key: "key_1" } }, clock.now()),
    );
    await refusal(() => meter.admit(limited, 51n));
    const open = await readHold(store, "vid_1");
    assert(open !== null);
    await store.commit(null, releaseHold({}, open, clock.now(), { key: "key_1" }));
    meter.invalidate("acme");
    (await meter.admit(limited, 100n)).release();
  }));

Deno.test("charges that are not in the ledger yet count once when a budget is loaded", async () => {
  const clock = new ManualClock(NOON);
  const store = observeStore(await openKvStore({ path: ":memory:", clock, log: silentLog }));
  await createAccount(store, { id: "acme", balance: BALANCE });
  const gate = Promise.withResolvers<void>();
  const rollup = new UsageRollup({ store, clock, log: silentLog });
  const meter = createMeter({ store, clock, log: silentLog, readSpent: rollup.spentSince.bind(rollup) });
  const unlimited = { keyId: "key_1", accountId: "acme", limits: null };
  const [first, second, other] = await Promise.all([
    meter.admit(unlimited, 10n),
    meter.admit(unlimited, 10n),
    meter.admit({ ...unlimited, keyId: "key_2" }, 10n),
  ]);
  await first.charge(chargeOf(10n)); // in the ledger
  store.beforeCommit = () => gate.promise;
  const charged = [second.charge(chargeOf(7n)), other.charge(chargeOf(5n, 0, "key_2"))]; // their commit waits
  const limited = caller(budgetOf(100n), budgetOf(200n));
  const left = meter.limitsLeft(limited);
  gate.resolve();
  const { key, account } = await left;
  await Promise.all(charged);
  assertEquals([key.budget?.left, account.budget?.left], [83n, 178n]);
  assertEquals((await meter.limitsLeft(limited)).key.budget?.left, 83n);
});

Deno.test("calls that were open before a limit was set count towards it", () =>
  withMeter(async ({ meter }) => {
    const unlimited = { keyId: "key_1", accountId: "acme", limits: null };
    const open = await Promise.all([meter.admit(unlimited, 30n), meter.admit(unlimited, 30n)]);
    await refusal(() => meter.admit(caller({ concurrency: 2 }), 0n));
    await refusal(() => meter.admit(caller(budgetOf(80n)), 21n));
    itemAt(open, 0).release();
    (await meter.admit(caller({ ...budgetOf(80n), concurrency: 2 }), 50n)).release();
  }));

Deno.test("a changed limit is in force at once, and what was used stays used", () =>
  withMeter(async ({ meter }) => {
    for (let call = 0; call < 10; call++) (await meter.admit(caller({ rpm: 10 }), 0n)).release();
    await refusal(() => meter.admit(caller({ rpm: 10 }), 0n));
    for (let call = 0; call < 2; call++) (await meter.admit(caller({ rpm: 12 }), 0n)).release();
    await refusal(() => meter.admit(caller({ rpm: 12 }), 0n));
    await (await meter.admit(caller(budgetOf(100n)), 60n)).charge(chargeOf(60n));
    await refusal(() => meter.admit(caller(budgetOf(60n)), 1n));
    (await meter.admit(caller(budgetOf(120n)), 60n)).release();
  }));

Deno.test("a release returns tokens, money and concurrency, and the request stays counted", () =>
  withMeter(async ({ meter }) => {
    const limited = caller({ rpm: 2, tpm: 100, concurrency: 1, ...budgetOf(50n) });
    (await meter.admit(limited, () => ({ amount: 50n, outputLimit: null, tokens: 100 }))).release();
    const { key } = await meter.limitsLeft(limited);
    assertEquals([key.requests?.left, key.tokens?.left, key.concurrency?.left, key.budget?.left], [1, 100, 1, 50n]);
  }));

Deno.test("tokens are corrected to those that were used, also by a call that costs nothing", () =>
  withMeter(async ({ meter }) => {
    const limited = caller({ tpm: 1_000 });
    const rule = () => ({ amount: 10n, outputLimit: null, tokens: 900 });
    const call = await meter.admit(limited, rule);
    assertEquals(meter.ratesLeft(limited)?.tokens?.left, 100);
    await call.charge(chargeOf(10n, 250));
    assertEquals(meter.ratesLeft(limited)?.tokens?.left, 750);
    const other = await meter.admit(limited, () => ({ amount: 0n, outputLimit: null, tokens: 100 }));
    await other.charge(chargeOf(0n, 1_750));
    const error = await refusal(() => meter.admit(limited, rule));
    assertEquals([error.status, error.details.retryAfterSeconds], [429, 114]);
    assertEquals(
      error.message,
      "Rate limit exceeded: the key allows 1000 tokens a minute, and the request may use up to 900; retry after 114 s",
    );
  }));

Deno.test("a request without an output limit reserves what it is sure to need, and up to a tenth of the limit", () =>
  withMeter(async ({ meter }) => {
    const limited = caller({ tpm: 100_000 });
    const rule = () => ({ amount: 0n, outputLimit: null, tokens: 64_000, knownTokens: 2_000 });
    const results = [];
    for (let call = 0; call < 12; call++) results.push(await tried(() => meter.admit(limited, rule)));
    assertEquals(admitted(results).length, 10);
  }));

Deno.test("every account has a limit of open calls, without limits of its own too", () =>
  withMeter(async ({ meter }) => {
    const unlimited = { keyId: "key_1", accountId: "acme", limits: null };
    const open = [await meter.admit(unlimited, 1n), await meter.admitFree(unlimited)];
    const error = await refusal(() => meter.admit(unlimited, 1n));
    assertEquals(
      [error.code, error.message],
      ["rate_limited", "Rate limit exceeded: the account allows 2 open requests; retry after 1 s"],
    );
    assertEquals((await refusal(() => meter.admitFree(unlimited))).code, "rate_limited");
    (await meter.reserve(unlimited, 1n)).release();
    for (const each of open) each.release();
    (await meter.admit(unlimited, 1n)).release();
  }, { accountConcurrency: () => 2 }));

Deno.test("a refused request takes nothing from any limit", () =>
  withMeter(async ({ meter }) => {
    const limits = { rpm: 5, tpm: 100, concurrency: 5, ...budgetOf(50n) };
    const limited = caller(limits, { rpm: 1 });
    (await meter.admit(limited, () => ({ amount: 50n, outputLimit: null, tokens: 100 }))).release();
    await refusal(() => meter.admit(limited, () => ({ amount: 50n, outputLimit: null, tokens: 100 })));
    await refusal(() => meter.admit(caller(limits), 51n));
    const { key } = await meter.limitsLeft(limited);
    assertEquals([key.requests?.left, key.tokens?.left, key.concurrency?.left, key.budget?.left], [4, 100, 5, 50n]);
  }));

Deno.test("a budget that cannot be read refuses its key with storage_unavailable, and no other key", async () => {
  const clock = new ManualClock(NOON);
  const store = await openKvStore({ path: ":memory:", clock, log: silentLog });
  await createAccount(store, { id: "acme", balance: BALANCE });
  let isBroken = true;
  const readSpent = () =>
    isBroken ? Promise.reject(new Error("no such table")) : Promise.resolve({ charged: 1n, held: 2n });
  const meter = createMeter({ store, clock, log: silentLog, readSpent });
  const limited = caller(budgetOf(10n));
  const error = await refusal(() => meter.admit(limited, 1n));
  assertEquals([error.code, error.status], ["storage_unavailable", 503]);
  await assertRejects(() => meter.limitsLeft(limited), GatewayError);
  (await meter.admit(caller({ rpm: 1 }, {}, "key_2"), 1n)).release();
  isBroken = false;
  (await meter.admit(limited, 7n)).release();
  await store.close();
});

Deno.test("the budget that has less left decides on what a request reserves", () =>
  withMeter(async ({ meter }) => {
    const rule = (spendable: Money) => ({ amount: spendable, outputLimit: null });
    const open = await meter.admit(caller(budgetOf(60n), budgetOf(40n)), rule);
    assertEquals(open.reserved.amount, 40n);
    open.release();
    assertEquals((await meter.allowance(caller(budgetOf(30n), budgetOf(40n)))).budget?.holder, "key");
    const { spendable, budget } = await meter.allowance(caller(budgetOf(BALANCE * 2n)));
    assertEquals([spendable, budget], [BALANCE, null]);
  }));
