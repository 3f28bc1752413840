import { assertEquals } from "@std/assert";
import { createLineWriter } from "../../src/lib/line_writer.ts";
import { ManualClock } from "../support/manual_clock.ts";

function gathering(mostAtOnce = Infinity) {
  const clock = new ManualClock();
  const writes: string[] = [];
  const writer = createLineWriter((bytes) => {
    const taken = bytes.subarray(0, mostAtOnce);
    writes.push(new TextDecoder().decode(taken));
    return taken.length;
  }, clock);
  return { clock, writes, writer };
}

Deno.test("lines are gathered for ten milliseconds and written in one go", () => {
  const { clock, writes, writer } = gathering();
  writer.write("one", false);
  clock.advance(9);
  writer.write("two", false);
  assertEquals(writes, []);
  clock.advance(1);
  assertEquals(writes, ["one\ntwo\n"]);
  writer.write("three", false);
  clock.advance(10);
  assertEquals(writes, ["one\ntwo\n", "three\n"]);
});

Deno.test("a line that must not be lost is written at once, behind those before it", () => {
  const { clock, writes, writer } = gathering();
  writer.write("one", false);
  writer.write("two", true);
  assertEquals(writes, ["one\ntwo\n"]);
  clock.advance(10);
  assertEquals(writes.length, 1);
});

Deno.test("many lines are not gathered without end", () => {
  const { writes, writer } = gathering();
  writer.write("x".repeat(65_536), false);
  assertEquals(writes.length, 1);
});

Deno.test("flush() writes what is there, and nothing when nothing is", () => {
  const { writes, writer } = gathering();
  writer.flush();
  writer.write("one", false);
  writer.flush();
  assertEquals(writes, ["one\n"]);
});

Deno.test("what is taken in part is written in parts", () => {
  const { writes, writer } = gathering(3);
  writer.write("whole", true);
  assertEquals(writes.join(""), "whole\n");
});
