import { assertEquals, assertThrows } from "@std/assert";
import fc from "fast-check";
import {
  exactCostOf,
  MAX_MONEY,
  readMoney,
  readRate,
  roundedMoney,
  writeMoney,
} from "../../src/platform/lib/basics/money.ts";

const anyMoney = fc.bigInt({ min: -MAX_MONEY, max: MAX_MONEY });
const anyRate = fc.bigInt({ min: 0n, max: 10n ** 18n });

Deno.test("readMoney() reverses writeMoney() for every amount", () => {
  fc.assert(fc.property(anyMoney, (money) => assertEquals(readMoney(writeMoney(money)), money)));
});

Deno.test("readMoney() reads decimals of up to ten fractional digits", () => {
  assertEquals(readMoney("25"), 250_000_000_000n);
  assertEquals(readMoney("25.00"), 250_000_000_000n);
  assertEquals(readMoney("-0.5"), -5_000_000_000n);
  assertEquals(readMoney("0.0000000001"), 1n);
});

Deno.test("readMoney() rejects a text that is no plain decimal, too precise or too large", () => {
  const refused = ["", " 1", "1 ", "1,5", "+1", ".5", "1.", "NaN", "Infinity", "1e30", "0x10", "--1", "0.00000000001"];
  for (const text of [...refused, "10000000.0000000001", "-10000001", "9".repeat(40)]) {
    assertThrows(() => readMoney(text), RangeError, "Cannot read");
  }
});

Deno.test("writeMoney() writes exactly ten fractional digits, the sign first", () => {
  assertEquals(writeMoney(0n), "0.0000000000");
  assertEquals(writeMoney(1_000_000_000n), "0.1000000000");
  assertEquals(writeMoney(-1n), "-0.0000000001");
});

Deno.test("readRate() keeps prices smaller than a unit of money and rejects negative ones", () => {
  assertEquals(readRate("0.0000000036250000"), 3_625_000_000n);
  assertThrows(() => readRate("-0.1"), RangeError, "below zero");
  assertThrows(() => readRate("0.0000000000000000001"), RangeError, "18 fractional digits");
});

Deno.test("roundedMoney() rounds the sum of costs half up once, at the end", () => {
  const half = { quantity: 1, rate: 50_000_000n };
  assertEquals(sumOf([]), 0n);
  assertEquals(sumOf([half]), 1n);
  assertEquals(sumOf([half, half]), 1n);
  assertEquals(sumOf([{ quantity: 1, rate: 49_999_999n }]), 0n);
  assertEquals(sumOf([half, half, half]), 2n);
});

Deno.test("roundedMoney() of a bill in parts differs by at most half a unit for each part", () => {
  const anyLine = fc.record({ quantity: fc.nat(10_000_000), rate: anyRate });
  fc.assert(fc.property(fc.array(anyLine), fc.array(anyLine), (first, second) => {
    const apart = sumOf(first) + sumOf(second);
    const difference = sumOf([...first, ...second]) - apart;
    assertEquals(difference >= -1n && difference <= 1n, true);
  }));
});

Deno.test("exactCostOf() is exact for fractions and for large integers", () => {
  assertEquals(exactCostOf(0.001, 3n), 3n);
  assertEquals(exactCostOf(Number.MAX_SAFE_INTEGER, 3n), 3_000n * BigInt(Number.MAX_SAFE_INTEGER));
});

/** The total of lines of a bill. */
function sumOf(lines: readonly { readonly quantity: number; readonly rate: bigint }[]): bigint {
  return roundedMoney(lines.reduce((sum, { quantity, rate }) => sum + exactCostOf(quantity, rate), 0n));
}
