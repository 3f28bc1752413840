import { assert, assertEquals } from "@std/assert";
import fc from "fast-check";
import { JoinedBytes } from "../../src/platform/lib/bytes/joined_bytes.ts";

Deno.test("JoinedBytes returns every byte in order, and keeps no chunk", () => {
  fc.assert(fc.property(fc.array(fc.uint8Array({ maxLength: 600 }), { maxLength: 60 }), (chunks) => {
    const bytes = new JoinedBytes();
    const sent = chunks.flatMap((chunk) => [...chunk]);
    for (const chunk of chunks) {
      bytes.add(chunk);
      chunk.fill(0);
    }
    assertEquals([...bytes.joined()], sent);
    assertEquals(bytes.pieces.flatMap((piece) => [...piece]), sent);
    assertEquals(bytes.length, sent.length);
  }));
});

Deno.test("the memory of JoinedBytes follows the bytes, and a chunk alone takes its own length", () => {
  for (const [count, size] of [[100_000, 1], [20_000, 15], [100, 70_000], [1, 800]] as const) {
    const bytes = new JoinedBytes();
    const chunk = new Uint8Array(size);
    for (let n = 0; n < count; n++) bytes.add(chunk);
    const buffers = bytes.pieces.map(({ buffer }) => buffer.byteLength);
    const held = buffers.reduce((sum, length) => sum + length, 0);
    assert(held <= count * size + 16_384, `${held} for ${count} chunks of ${size} bytes`);
    assert(buffers.length <= count * Math.max(size, 16) / 256 + 20, `${buffers.length} buffers`);
  }
});
