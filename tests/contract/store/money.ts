import { assert, assertEquals } from "@std/assert";
import fc from "fast-check";
import type { Commit, LedgerEntry, Store } from "../../../src/platform/store/store.ts";
import { atLeast } from "../../support/items.ts";
import type { Law } from "./law.ts";

/** Balances never fall below zero without permission, and every ledger entry is written once. */
export function moneyLaws(law: Law): void {
  law("an unknown account has a balance of zero", async ({ store }) => {
    assertEquals(await store.balance("nobody"), { available: 0n, held: 0n });
    assertEquals(await store.ledger("nobody", { limit: 5 }), []);
  });

  law("a hold is taken and released", async ({ store }) => {
    await store.commit(null, { changeBalances: [{ account: "a", available: 10n, held: 0n }] });
    await store.commit(null, { changeBalances: [{ account: "a", available: -4n, held: 4n }] });
    assertEquals(await store.balance("a"), { available: 6n, held: 4n });
    await store.commit(null, { changeBalances: [{ account: "a", available: 1n, held: -4n }] });
    assertEquals(await store.balance("a"), { available: 7n, held: 0n });
  });

  law("balances never fall below zero under concurrency: exactly what fits is accepted", async ({ store }) => {
    await store.commit(null, { changeBalances: [{ account: "a", available: 100n, held: 0n }] });
    const hold: Commit = { changeBalances: [{ account: "a", available: -30n, held: 30n }] };
    const results = await Promise.all(Array.from({ length: 200 }, () => store.commit(null, hold)));
    assertEquals(results.filter(({ ok }) => ok).length, 3);
    const refused = results.filter(({ ok }) => !ok);
    for (const result of refused) assertEquals(result, { ok: false, why: "short", at: 0 });
    assertEquals(await store.balance("a"), { available: 10n, held: 90n });
  });

  law("overdraw lets available fall below zero, held never", async ({ store }) => {
    const overdrawn = await store.commit(null, {
      changeBalances: [{ account: "a", available: -5n, held: 0n, overdraw: true }],
    });
    assert(overdrawn.ok);
    assertEquals(await store.balance("a"), { available: -5n, held: 0n });
    const held = await store.commit(null, {
      changeBalances: [{ account: "a", available: 0n, held: -1n, overdraw: true }],
    });
    assertEquals(held, { ok: false, why: "short", at: 0 });
  });

  law("an overdrawn account accepts a credit and the end of a hold, but no new hold", async ({ store }) => {
    await store.commit(null, { changeBalances: [{ account: "a", available: 10n, held: 0n }] });
    await store.commit(null, { changeBalances: [{ account: "a", available: -10n, held: 10n }] });
    await store.commit(null, { changeBalances: [{ account: "a", available: -50n, held: 0n, overdraw: true }] });
    assert((await store.commit(null, { changeBalances: [{ account: "a", available: 5n, held: 0n }] })).ok);
    assert((await store.commit(null, { changeBalances: [{ account: "a", available: 0n, held: -6n }] })).ok);
    assert((await store.commit(null, { changeBalances: [{ account: "a", available: 4n, held: -4n }] })).ok);
    assertEquals(await store.balance("a"), { available: -41n, held: 0n });
    assertEquals(await store.commit(null, { changeBalances: [{ account: "a", available: -1n, held: 1n }] }), SHORT);
  });

  law("balance changes of one commit apply in their order, also between accounts", async ({ store }) => {
    await store.commit(null, { changeBalances: [{ account: "a", available: 10n, held: 0n }] });
    const passOn = await store.commit(null, {
      changeBalances: [
        { account: "a", available: -10n, held: 0n },
        { account: "b", available: 10n, held: 0n },
        { account: "b", available: -3n, held: 3n },
      ],
    });
    assert(passOn.ok);
    assertEquals(await store.balance("a"), { available: 0n, held: 0n });
    assertEquals(await store.balance("b"), { available: 7n, held: 3n });
    const tooEarly = [{ account: "a", available: -1n, held: 0n }, { account: "a", available: 1n, held: 0n }];
    assertEquals(await store.commit(null, { changeBalances: tooEarly }), SHORT);
  });

  law(
    "an overdraft lets available fall below zero by that much, and its end lets it fall no further",
    async (parts) => {
      const { store, restarted } = parts;
      const hold: Commit = { changeBalances: [{ account: "a", available: -4n, held: 4n }] };
      assert((await store.commit(null, { setOverdrafts: [{ account: "a", overdraft: 10n }] })).ok);
      assertEquals(await store.balance("a"), { available: 0n, held: 0n, overdraft: 10n });
      await store.commit(null, {
        changeBalances: [{ account: "a", available: 1n, held: 0n }],
        ledgerEntries: [line(1)],
      });
      const results = await Promise.all(Array.from({ length: 20 }, () => store.commit(null, hold)));
      assertEquals(results.filter(({ ok }) => ok).length, 2);
      assertEquals(results.at(-1), SHORT);
      const later = await restarted();
      assertEquals(await later.balance("a"), { available: -7n, held: 8n, overdraft: 10n });
      await later.commit(null, { setOverdrafts: [{ account: "a", overdraft: 0n }] });
      assertEquals(await later.balance("a"), { available: -7n, held: 8n });
      const spend: Commit = { changeBalances: [{ account: "a", available: -1n, held: 0n }] };
      assertEquals(await later.commit(null, spend), SHORT);
      assert((await later.commit(null, { changeBalances: [{ account: "a", available: 8n, held: -8n }] })).ok);
      assert((await later.commit(null, spend)).ok);
      assertEquals((await later.ledger("a", { limit: 9 })).length, 1);
    },
  );

  law("amounts beyond 64 bits are exact", async ({ store }) => {
    const huge = 2n ** 90n + 1n;
    await store.commit(null, { changeBalances: [{ account: "a", available: huge, held: 0n }] });
    await store.commit(null, { changeBalances: [{ account: "a", available: -1n, held: 1n }] });
    assertEquals(await store.balance("a"), { available: 2n ** 90n, held: 1n });
  });

  law("a ledger entry is returned complete, with its time", async ({ store, clock }) => {
    clock.advance(77);
    await store.commit(null, { ledgerEntries: [{ ...line(1), detail: { model: "m", tokens: 3n } }, line(2)] });
    const [first, second] = atLeast(await store.ledger("a", { limit: 5 }), 2);
    const { id, ...rest } = first;
    assertEquals(rest, { ...line(1), detail: { model: "m", tokens: 3n }, at: store.now() });
    assert(id < second.id);
    assert(!("detail" in second));
  });

  law(
    "operation and reference of an entry are unique forever, over accounts and restarts",
    async ({ store, clock, restarted }) => {
      await store.commit(null, { ledgerEntries: [line(1)] });
      const later = await restarted();
      clock.advance(400 * 24 * 3_600_000);
      assertEquals(await later.commit(null, { ledgerEntries: [line(1)] }), { ok: false, why: "duplicate", at: 0 });
      const elsewhere = { ...line(1), account: "b" };
      assertEquals(await later.commit(null, { ledgerEntries: [line(2), elsewhere] }), {
        ok: false,
        why: "duplicate",
        at: 1,
      });
      assertEquals(await later.commit(null, { ledgerEntries: [line(3), line(3)] }), {
        ok: false,
        why: "duplicate",
        at: 1,
      });
      assert((await later.commit(null, { ledgerEntries: [{ ...line(1), operation: "capture" }] })).ok);
      assertEquals((await later.ledger("a", { limit: 9 })).length, 2);
      assertEquals(await later.ledger("b", { limit: 9 }), []);
    },
  );

  law("a repeated capture is refused as duplicate, not as short", async ({ store }) => {
    await store.commit(null, { changeBalances: [{ account: "a", available: 0n, held: 5n }] });
    const capture: Commit = {
      changeBalances: [{ account: "a", available: 0n, held: -5n }],
      ledgerEntries: [{ ...line(1), operation: "capture", available: 0n, held: -5n }],
    };
    assert((await store.commit(null, capture)).ok);
    assertEquals(await store.commit(null, capture), { ok: false, why: "duplicate", at: 0 });
  });

  law("of parallel commits of one ledger entry, one is made", async ({ store }) => {
    const charge: Commit = { ledgerEntries: [line(1)], changeBalances: [{ account: "a", available: 1n, held: 0n }] };
    const results = await Promise.all(Array.from({ length: 50 }, () => store.commit(null, charge)));
    assertEquals(results.filter(({ ok }) => ok).length, 1);
    assertEquals(await store.balance("a"), { available: 1n, held: 0n });
  });

  law(
    "ledger() pages both ways in the order of commits, also when the clock was set back",
    async ({ store, clock }) => {
      for (let n = 0; n < 7; n++) {
        clock.set(clock.now() - 1_000);
        await store.commit(null, { ledgerEntries: [line(n)] });
      }
      assertEquals(await pages(store, false), [0, 1, 2, 3, 4, 5, 6].map(String));
      assertEquals(await pages(store, true), [6, 5, 4, 3, 2, 1, 0].map(String));
      assertEquals(await store.ledger("a", { limit: 0 }), []);
    },
  );

  law("entries of waiting commits are in the order of the commits", async ({ store }) => {
    await Promise.all(Array.from({ length: 60 }, (_, n) => store.commit(null, { ledgerEntries: [line(n)] })));
    const lines = await store.ledger("a", { limit: 100 });
    assertEquals(lines.map(({ reference }) => Number(reference)), Array.from({ length: 60 }, (_, n) => n));
  });

  law("balances survive a restart", async ({ store, restarted }) => {
    await store.commit(null, { changeBalances: [{ account: "a", available: 9n, held: 2n }], ledgerEntries: [line(1)] });
    const later = await restarted();
    assertEquals(await later.balance("a"), { available: 9n, held: 2n });
    await later.commit(null, { ledgerEntries: [line(2)] });
    assertEquals((await later.ledger("a", { limit: 9 })).map(({ reference }) => reference), ["1", "2"]);
  });

  law("the sum of the ledger entries is the balance after any parallel commits", async ({ store }) => {
    const amount = fc.bigInt({ min: -20n, max: 20n });
    const step = fc.record({ available: amount, held: amount, overdraw: fc.boolean(), reference: fc.nat(15) });
    let run = 0;
    await fc.assert(
      fc.asyncProperty(fc.array(step, { maxLength: 40 }), async (steps) => {
        const account = `run ${run++}`;
        await Promise.all(steps.map(({ available, held, overdraw, reference }) =>
          store.commit(null, {
            changeBalances: [{ account, available, held, overdraw }],
            ledgerEntries: [{ account, operation: "charge", reference: `${account} ${reference}`, available, held }],
          })
        ));
        const lines = await store.ledger(account, { limit: 100 });
        const sum = lines.reduce((sum, line) => ({
          available: sum.available + line.available,
          held: sum.held + line.held,
        }), { available: 0n, held: 0n });
        assertEquals(await store.balance(account), sum);
        assert(sum.held >= 0n);
      }),
      { numRuns: 25 },
    );
  });
}

const SHORT = { ok: false, why: "short", at: 0 } as const;

function line(n: number): LedgerEntry {
  return { account: "a", operation: "credit", reference: String(n), available: 1n, held: 0n };
}

async function pages(store: Store, reverse: boolean): Promise<string[]> {
  const references: string[] = [];
  let after: string | undefined;
  while (true) {
    const page = await store.ledger("a", { limit: 3, reverse, ...(after === undefined ? {} : { after }) });
    references.push(...page.map(({ reference }) => reference));
    if (page.length < 3) return references;
    after = page.at(-1)!.id;
  }
}
