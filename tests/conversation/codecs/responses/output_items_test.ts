import { assertEquals, assertLess } from "@std/assert";
import { callIdFor } from "../../../../src/conversation/codecs/responses/caller/output_items.ts";

Deno.test("callIdFor() keeps the vendor's ids, and makes repeated ones unique", () => {
  const used = new Map<string, number>();
  const ids = ["a", "a", "a", "a_2", "b", "", "a"].map((id) => callIdFor(id, used, "req_9"));
  assertEquals(ids, ["a", "a_2", "a_3", "a_2_2", "b", "call_9", "a_4"]);
});

Deno.test("callIdFor() tries each number of a repeated id once", () => {
  let looks = 0;
  const used = new (class extends Map<string, number> {
    override has(id: string): boolean {
      looks++;
      return super.has(id);
    }
  })();
  const ids = Array.from({ length: 2_000 }, () => callIdFor("x", used, "req_9"));
  assertEquals(new Set(ids).size, ids.length);
  assertLess(looks, 3 * ids.length);
});
