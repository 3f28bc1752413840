import { assertEquals } from "@std/assert";
import { BoundedMemory } from "../../src/services/texts/memory/bounded_memory.ts";
import { ManualClock } from "../support/manual_clock.ts";

Deno.test("BoundedMemory counts its keys, so that long keys of small values remove the oldest", () => {
  const memory = new BoundedMemory<number>(new ManualClock());
  const keyOf = (nth: number) => `${nth} ${"k".repeat(1_000_000)}`;
  for (let nth = 0; nth < 70; nth++) memory.put(keyOf(nth), nth, 0);
  assertEquals([memory.find(keyOf(0)), memory.find(keyOf(69))], [null, 69]);
});

Deno.test("BoundedMemory counts its entries, so that the number of empty values is bounded", () => {
  const memory = new BoundedMemory<number>(new ManualClock());
  for (let nth = 0; nth < 600_000; nth++) memory.put(`${nth}`, nth, 0);
  assertEquals([memory.find("0"), memory.find("599999")], [null, 599_999]);
});

Deno.test("BoundedMemory removes the values of one account, and frees what they counted", () => {
  const memory = new BoundedMemory<string>(new ManualClock());
  for (const account of ["acme", "acme-two"]) {
    for (const nth of [1, 2]) memory.put(`${account} ${nth}`, account, 30_000_000 / 2);
  }
  assertEquals([memory.removeAccount("acme"), memory.removeAccount("acme")], [2, 0]);
  assertEquals([memory.find("acme 1"), memory.find("acme-two 2")], [null, "acme-two"]);
  memory.put("acme 3", "large", 30_000_000);
  assertEquals([memory.find("acme-two 1"), memory.find("acme 3")], ["acme-two", "large"]);
});
