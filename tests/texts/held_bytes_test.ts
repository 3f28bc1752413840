import { assertEquals } from "@std/assert";
import { concatBytes } from "../../src/platform/lib/bytes/concat_bytes.ts";
import { HeldBytes } from "../../src/services/texts/relay/held_bytes.ts";
import { SeededRandom } from "../e2e/money_walk/random.ts";

Deno.test("held bytes: what is taken is what was read, in its order, wherever reads and frames end", () => {
  const random = new SeededRandom(7);
  const all = Uint8Array.from({ length: 5_000 }, (_, at) => at % 251);
  for (let run = 0; run < 50; run++) {
    const held = new HeldBytes();
    const taken: Uint8Array[] = [];
    let [read, sent] = [0, 0];
    while (read < all.length) {
      const end = Math.min(all.length, read + random.between(1, 200));
      const piece = all.slice(read, end);
      read = end;
      const length = random.chance(0.5) ? 0 : random.chance(0.3) ? read - sent : random.between(0, read - sent);
      const part = held.takeWith(piece, length);
      assertEquals(part?.length ?? 0, length);
      if (part !== null) taken.push(part);
      sent += length;
    }
    const last = held.takeWith(new Uint8Array(0), all.length - sent);
    assertEquals(concatBytes(last === null ? taken : [...taken, last]), all);
  }
});

Deno.test("held bytes: a read that is taken whole is not copied", () => {
  const read = new Uint8Array([1, 2, 3]);
  assertEquals(new HeldBytes().takeWith(read, 3) === read, true);
});
