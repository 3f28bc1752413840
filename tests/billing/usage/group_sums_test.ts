import { longTest } from "../../support/long_test.ts";
import { assertEquals } from "@std/assert";
import fc from "fast-check";
import { GroupSums } from "../../../src/money/billing/usage/group_sums.ts";
import type { UsageRow } from "../../../src/money/billing/usage/read_usage.ts";
import type { UsageDimension, UsageGroup } from "../../../src/money/billing/usage/usage_group.ts";
import { DAY_MS, usageKey, type UsageRecord } from "../../../src/money/billing/usage/usage_records.ts";
import { MAX_USAGE_GROUPS, sumUsage } from "../../../src/money/billing/usage/usage_report.ts";
import { openMemoryStore } from "../../support/memory_store.ts";
import { manualClock } from "../support.ts";

function row(account: string, day: number, cost: bigint): UsageRow {
  return { account, day, key: "key_1", model: "m", provider: "p", kind: "text", cost, counts: [1] };
}

function sumsOf(rows: readonly UsageRow[], ...groupBy: UsageDimension[]): GroupSums {
  const sums = new GroupSums(groupBy);
  for (const each of rows) sums.add(each);
  return sums;
}

const shown = (groups: readonly UsageGroup[]) => groups.map(({ values, sums }) => [...values, sums.cost]);

Deno.test("GroupSums chooses by the cost over all days, and sums up the others of each day", () => {
  const rows = [row("a", 1, 5n), row("b", 1, 9n), row("c", 1, 1n), row("a", 2, 5n), row("d", 2, 2n), row("e", 2, 1n)];
  const { groups, others } = sumsOf(rows, "day", "account").top(2);
  assertEquals(shown(groups), [[1, "a", 5n], [2, "a", 5n], [1, "b", 9n]]);
  assertEquals(others, [
    { values: [2], sums: { cost: 3n, counts: [2] } },
    { values: [1], sums: { cost: 1n, counts: [1] } },
  ]);
  assertEquals(shown(sumsOf(rows, "account", "day").top(1).groups), [["a", 1, 5n], ["a", 2, 5n]]);
});

Deno.test("GroupSums without days has one sum of the others, and none where every group is chosen", () => {
  const sums = sumsOf([row("a", 1, 1n), row("b", 1, 1n), row("c", 1, 1n), row("c", 2, 0n)], "account");
  assertEquals(shown(sums.top(1).groups), [["a", 1n]]);
  assertEquals(sums.top(1).others, [{ values: [], sums: { cost: 2n, counts: [3] } }]);
  assertEquals([sums.top(3).others, sums.size], [[], 3]);
});

Deno.test("GroupSums loses no cost and changes no row, and no other group costs more than a chosen one", () => {
  const arbitrary = fc.array(fc.tuple(fc.constantFrom("a", "b", "c", "d"), fc.nat(2), fc.bigInt(0n, 20n)));
  fc.assert(fc.property(arbitrary, fc.integer({ min: 1, max: 5 }), (facts, count) => {
    const rows = facts.map((each) => row(...each));
    const sums = sumsOf(rows, "day", "account");
    const { groups, others } = sums.top(count);
    const total = (list: readonly { readonly cost: bigint }[]) => list.reduce((sum, { cost }) => sum + cost, 0n);
    assertEquals(total([...groups, ...others].map((group) => group.sums)), total(rows));
    assertEquals(total(sums.all().groups.map((group) => group.sums)), total(rows));
    assertEquals(rows.every(({ counts }) => counts[0] === 1), true);
    const costOf = (account: string) => total(rows.filter((each) => each.account === account));
    const chosen = new Set(groups.map(({ values }) => String(values[1])));
    const least = [...chosen].map(costOf).reduce((low, cost) => cost < low ? cost : low, 10_000n);
    for (const { account } of rows) assertEquals(chosen.has(account) || costOf(account) <= least, true);
  }));
});

longTest("a report by day and account of more groups than it may list still has the top ones", async () => {
  const clock = manualClock();
  const store = await openMemoryStore({ clock });
  const today = Math.floor(clock.now() / DAY_MS);
  const days = 60;
  const accounts = Math.ceil(MAX_USAGE_GROUPS / days) + 1;
  for (let day = 0; day < days; day++) {
    const set = Array.from({ length: accounts }, (_, place) => {
      const source = { key: "key_1", model: "m", provider: "p", kind: "text" } as const;
      const value: UsageRecord = { ...source, cost: BigInt(place), counts: [1] };
      return { key: usageKey(today - day, `account-${String(place).padStart(4, "0")}`, source), value };
    });
    await store.commit(null, { set });
  }
  const query = { groupBy: ["day", "account"], only: {}, fromDay: 0, toDay: Infinity } as const;
  const refused = await sumUsage(store, query).catch(({ message }) => message);
  assertEquals(
    refused,
    `Cannot report the usage: the range has more than ${MAX_USAGE_GROUPS} groups; ` +
      "set top, shorten the range of from and to, filter, or group by fewer fields",
  );
  const { groups, others, total } = await sumUsage(store, { ...query, top: 2 });
  assertEquals([groups.length, others.length], [2 * days, days]);
  assertEquals(groups.slice(0, 2).map(({ sums }) => sums.cost), [BigInt(accounts - 2), BigInt(accounts - 1)]);
  assertEquals(total.counts[0], days * accounts);
});
