import { assert, assertEquals, assertRejects } from "@std/assert";
import { createAccount } from "../../src/money/billing/accounts/account.ts";
import { issueKey } from "../../src/money/billing/keys/issued_key.ts";
import { createKeyRing } from "../../src/money/billing/keys/key_ring.ts";
import { createMeter } from "../../src/money/billing/meter/create_meter.ts";
import { chargeRowsOf } from "../../src/money/billing/ledger/charge.ts";
import { GatewayError } from "../../src/platform/lib/basics/gateway_error.ts";
import { silentLog } from "../../src/platform/lib/basics/log.ts";
import { unlimitedKey } from "../support/callers.ts";
import { HOST_CLOCKS, hostClock } from "../support/host_clock.ts";
import { itemAt } from "../support/items.ts";
import { ManualClock } from "../support/manual_clock.ts";
import { openMemoryStore } from "../support/memory_store.ts";

const MINUTE_MS = 60_000;
const DAY_MS = 86_400_000;

for (const [name, aheadMs] of Object.entries(HOST_CLOCKS)) {
  Deno.test(`by ${name}: a key is accepted until it expires`, async () => {
    const clock = new ManualClock();
    const store = await openMemoryStore({ clock });
    await createAccount(store, { id: "acme" });
    const { secret } = await issueKey(store, "acme", { expires_at: clock.now() + MINUTE_MS });
    const ring = createKeyRing({ store, clock: hostClock(clock, aheadMs) });
    clock.advance(MINUTE_MS - 1_000);
    assertEquals((await ring.resolve(secret)).accountId, "acme");
    clock.advance(1_000);
    await assertRejects(async () => await ring.resolve(secret), GatewayError); // from the cache
    await assertRejects(async () => await createKeyRing({ store, clock: hostClock(clock, aheadMs) }).resolve(secret));
  });

  Deno.test(`by ${name}: a charge has the time of the store`, async () => {
    const clock = new ManualClock();
    const store = await openMemoryStore({ clock });
    await createAccount(store, { id: "acme", balance: 1_000n });
    const meter = createMeter({ store, clock: hostClock(clock, aheadMs), log: silentLog });
    const admission = await meter.admit(unlimitedKey("acme"), 10n);
    await admission.charge({ requestId: "r", keyId: "k", kind: "text", model: "m", provider: "p", amount: 10n });
    await meter.flush();
    const entries = await store.ledger("acme", { limit: 10, reverse: true });
    assertEquals(itemAt([...chargeRowsOf(itemAt(entries, 0))], 0).at, clock.now());
  });

  Deno.test(`by ${name}: a budget ends with the day of the store`, async () => {
    const clock = new ManualClock(1_800_000_000_000 - 1_800_000_000_000 % DAY_MS + DAY_MS - 1_000);
    const store = await openMemoryStore({ clock });
    await createAccount(store, { id: "acme", balance: 1_000n });
    const read: number[] = [];
    const readSpent = (_account: string, _key: string | null, since: number) => {
      read.push(since);
      return Promise.resolve({ charged: 0n, held: 0n });
    };
    const meter = createMeter({ store, clock: hostClock(clock, aheadMs), log: silentLog, readSpent });
    const limits = { key: { budget: { amount: 5n, per: "day" as const } }, account: {}, expiresAt: null };
    const caller = { ...unlimitedKey("acme"), limits };
    (await meter.admit(caller, 5n)).release();
    clock.advance(1_000);
    (await meter.admit(caller, 5n)).release();
    const day = clock.now();
    assert(day % DAY_MS === 0);
    assertEquals(read, [day - DAY_MS, day]);
  });
}
