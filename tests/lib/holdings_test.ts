import { assertEquals } from "@std/assert";
import { Holdings, shareOfRest } from "../../src/platform/lib/collections/holdings.ts";

Deno.test("Holdings takes a unit for each holder, or none if one has reached its limit", () => {
  const held = new Holdings();
  const giveBack = held.take([["acme", 2], ["all", 1]]);
  assertEquals([held.of("acme"), held.of("all"), held.total, held.holders], [1, 1, 2, 2]);
  assertEquals(held.take([["acme", 2], ["all", 1]]), null);
  assertEquals(held.of("acme"), 1);
  giveBack?.();
  giveBack?.();
  assertEquals([held.of("acme"), held.of("all"), held.total, held.holders], [0, 0, 0, 0]);
});

Deno.test("Holdings forgets holders without units, and keeps those that have some", () => {
  const held = new Holdings();
  held.add("kept", 3);
  for (let holder = 0; holder < 10_000; holder++) {
    held.add(`holder ${holder}`, 1);
    held.add(`holder ${holder}`, -1);
  }
  assertEquals([held.size <= 2_048, held.of("kept"), held.total, held.holders], [true, 3, 3, 1]);
});

Deno.test("shareOfRest leaves one part free for the next holder", () => {
  const held = new Holdings();
  const take = (holder: string) => held.take([[holder, shareOfRest(12, held.total - held.of(holder), 1 / 2)]]);
  const takeAll = () => {
    for (let round = 0; round < 12; round++) for (const holder of ["acme", "globex"]) take(holder);
  };
  takeAll();
  assertEquals([held.of("acme"), held.of("globex")], [4, 4]);
});
