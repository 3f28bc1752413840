import { assertEquals } from "@std/assert";
import fc from "fast-check";
import { NO_SLOT, SlotSet } from "../../src/platform/lib/collections/slot_set.ts";

interface Value {
  readonly name: number;
  slot: number;
}

Deno.test("SlotSet has the same values as a Set after any changes", () => {
  const changes = fc.array(fc.tuple(fc.boolean(), fc.nat(9)), { maxLength: 200 });
  fc.assert(fc.property(changes, (all) => {
    const values = Array.from({ length: 10 }, (_, name): Value => ({ name, slot: NO_SLOT }));
    const set = new SlotSet<Value>();
    const expected = new Set<Value>();
    for (const [isAdded, name] of all) {
      const value = values[name]!;
      if (isAdded) {
        set.add(value);
        expected.add(value);
      } else {
        assertEquals(set.delete(value), expected.delete(value));
      }
      assertEquals(set.size, expected.size);
    }
    const names = (each: Iterable<Value>) => [...each].map(({ name }) => name).sort();
    assertEquals(names(set), names(expected));
  }));
});

Deno.test("SlotSet: values can be removed while they are iterated, each is visited once", () => {
  const values = Array.from({ length: 4 }, (_, name): Value => ({ name, slot: NO_SLOT }));
  const set = new SlotSet<Value>();
  for (const value of values) set.add(value);
  const visited: number[] = [];
  for (const value of set) {
    visited.push(value.name);
    set.delete(value);
    if (value.name === 0) set.delete(values[2]!);
  }
  assertEquals(visited, [0, 1, 3]);
  assertEquals(set.size, 0);
});

Deno.test("SlotSet uses the slots of removed values again", () => {
  const set = new SlotSet<Value>();
  for (let name = 0; name < 1_000; name++) {
    const value: Value = { name, slot: NO_SLOT };
    set.add(value);
    assertEquals(value.slot, 0);
    set.delete(value);
    assertEquals(value.slot, NO_SLOT);
  }
});
