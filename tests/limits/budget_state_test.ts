import { assert, assertEquals } from "@std/assert";
import fc from "fast-check";
import { budgetPeriodAt } from "../../src/money/limits/budget_state.ts";

function periodOf(per: "day" | "week" | "month" | "total", at: string): (string | null)[] {
  const { since, until } = budgetPeriodAt(per, Date.parse(at));
  return [since, until].map((instant) => instant === null ? null : new Date(instant).toISOString().slice(0, 16));
}

Deno.test("periods are those of the calendar in UTC, and a week starts on Monday", () => {
  assertEquals(periodOf("day", "2026-11-22T23:59:59.999Z"), ["2026-11-22T00:00", "2026-11-23T00:00"]);
  assertEquals(periodOf("week", "2026-11-22T23:59:59.999Z"), ["2026-11-16T00:00", "2026-11-23T00:00"]); // a Sunday
  assertEquals(periodOf("week", "2026-11-23T00:00:00Z"), ["2026-11-23T00:00", "2026-11-30T00:00"]);
  assertEquals(periodOf("month", "2026-12-31T12:00:00Z"), ["2026-12-01T00:00", "2027-01-01T00:00"]);
  assertEquals(periodOf("month", "2028-02-29T12:00:00Z"), ["2028-02-01T00:00", "2028-03-01T00:00"]);
  assertEquals(periodOf("total", "2026-12-31T12:00:00Z"), ["1970-01-01T00:00", null]);
});

Deno.test("every instant is in its period, and the next period starts where it ends", () => {
  const instants = fc.integer({ min: 0, max: 4_102_444_800_000 });
  fc.assert(fc.property(instants, fc.constantFrom("day" as const, "week" as const, "month" as const), (at, per) => {
    const { since, until } = budgetPeriodAt(per, at);
    assert(until !== null && since <= at && at < until);
    assertEquals(budgetPeriodAt(per, until).since, until);
    assertEquals(budgetPeriodAt(per, until - 1), { since, until });
    if (per === "week") assertEquals(new Date(since).getUTCDay(), 1);
  }));
});
