import { assert, assertEquals } from "@std/assert";
import { returnBodyBuffer, takeBodyBuffer, whileWritten } from "../../src/platform/lib/bytes/body_buffers.ts";

const SIZE = 262_144;

/** A body of the length whose buffer was taken. */
const bodyOf = (length: number, fill: number) => new Uint8Array(takeBodyBuffer(length), 0, length).fill(fill);

/** Whether the next buffer contains bytes of an earlier body; none of the others is taken again. */
function isUsedAgain(fill: number): boolean {
  const next = new Uint8Array(takeBodyBuffer(SIZE));
  return next[0] === fill;
}

Deno.test("a returned buffer is used again, and no view of the earlier body has bytes", () => {
  const body = bodyOf(200_000, 7);
  const view = body.subarray(10);
  assertEquals(body.buffer.byteLength, SIZE);
  returnBodyBuffer(body);
  assertEquals([body.length, view.length], [0, 0]);
  assert(isUsedAgain(7));
  assert(!isUsedAgain(7), "one buffer belongs to one body at a time");
});

Deno.test("a buffer is not used again while a write reads it", async () => {
  const body = bodyOf(SIZE, 8);
  const first = Promise.withResolvers<number>();
  const second = Promise.withResolvers<number>();
  const writing = [whileWritten(body, first.promise), whileWritten(body.subarray(5), second.promise)];
  first.resolve(1);
  await writing[0];
  returnBodyBuffer(body);
  assertEquals(body.length, 0);
  assert(!isUsedAgain(8));
  second.reject(new Error("closed"));
  await writing[1]?.catch(() => {});
});

Deno.test("a buffer is used again after its writes ended", async () => {
  const body = bodyOf(SIZE, 9);
  await whileWritten(body, Promise.resolve(1));
  await whileWritten(body, Promise.reject(new Error("closed"))).catch(() => {});
  returnBodyBuffer(body);
  assert(isUsedAgain(9));
});

Deno.test("few returned buffers are kept, and buffers of other sizes are freed", () => {
  const bodies = Array.from({ length: 40 }, () => bodyOf(SIZE, 10));
  bodies.forEach(returnBodyBuffer);
  assert(bodies.every(({ length }) => length === 0));
  let used = 0;
  while (isUsedAgain(10)) used++;
  assertEquals(used, 16);

  for (const length of [65_535, 2_000_000]) assertEquals(takeBodyBuffer(length).byteLength, length);
  const large = new Uint8Array(2_000_000);
  returnBodyBuffer(large);
  assertEquals(large.length, 0);
  const small = new Uint8Array(1_000);
  returnBodyBuffer(small);
  assertEquals(small.length, 1_000);
});

Deno.test("bodies in use never share a buffer", () => {
  const buffers = Array.from({ length: 40 }, () => takeBodyBuffer(SIZE));
  assertEquals(new Set(buffers).size, 40);
});
