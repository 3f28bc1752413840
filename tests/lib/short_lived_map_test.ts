import { assertEquals } from "@std/assert";
import fc from "fast-check";
import { ShortLivedMap } from "../../src/platform/lib/collections/short_lived_map.ts";

Deno.test("ShortLivedMap has the same values as a Map after any changes", () => {
  const change = fc.tuple(fc.constantFrom("set", "take"), fc.nat(9), fc.nat(99));
  fc.assert(fc.property(fc.array(change, { maxLength: 200 }), (changes) => {
    const map = new ShortLivedMap<number, { value: number }>();
    const expected = new Map<number, { value: number }>();
    for (const [kind, key, value] of changes) {
      if (kind === "set") {
        map.set(key, { value });
        expected.set(key, { value });
      } else {
        assertEquals(map.take(key), expected.get(key));
        expected.delete(key);
      }
      assertEquals([map.size, map.get(key)], [expected.size, expected.get(key)]);
    }
    assertEquals(map.takeAll(), [...expected.values()]);
    assertEquals(map.size, 0);
  }));
});
