import { assertEquals } from "@std/assert";
import { framedVectors } from "../../src/protocols/vector_frame.ts";
import type { Vector } from "../../src/vendors/upstreams/contract/vector_list.ts";
import { EventLoopTurns } from "../support/event_loop_turns.ts";

const FRAME = { opening: "[", before: (nth: number) => `{"n":${nth},"v":`, after: "}", closing: "]" };
const vectorOf = (encoding: Vector["encoding"], text: string): Vector => ({
  encoding,
  bytes: new TextEncoder().encode(text),
});

Deno.test("framedVectors() frames each vector in its encoding", async () => {
  const written = await framedVectors([vectorOf("float", "[1,2]"), vectorOf("base64", "AAAA")], FRAME);
  assertEquals(JSON.parse(new TextDecoder().decode(written)), [{ n: 0, v: [1, 2] }, { n: 1, v: "AAAA" }]);
  assertEquals(new TextDecoder().decode(await framedVectors([], FRAME)), "[]");
});

Deno.test("others work while a hundred megabytes of vectors are framed", async () => {
  const long = vectorOf("base64", "A".repeat(1_000_000));
  using turns = new EventLoopTurns();
  await framedVectors(Array(100).fill(long), FRAME);
  turns.assertAbout(12, "the copy");
});
