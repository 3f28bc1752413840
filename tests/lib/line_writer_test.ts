import { assert, assertEquals } from "@std/assert";
import * as fc from "fast-check";
import {
  createLineWriter,
  MAX_QUEUED_CHARACTERS,
  URGENT_RESERVE_CHARACTERS,
} from "../../src/platform/lib/streams/line_writer.ts";
import { ManualClock } from "../support/manual_clock.ts";

/** A stream whose writes the test completes. */
class Stream {
  text = "";
  /** The bytes of each write that was started. */
  readonly begun: number[] = [];
  /** The results of the next writes: a number accepts at most so many bytes, an error fails. */
  script: (number | Error | Promise<number>)[] = [];

  readonly write = async (bytes: Uint8Array): Promise<number> => {
    this.begun.push(bytes.length);
    const step = this.script.shift() ?? bytes.length;
    if (step instanceof Error) throw step;
    const taken = Math.min(await step, bytes.length);
    this.text += new TextDecoder().decode(bytes.subarray(0, taken));
    return taken;
  };

  get lines(): string[] {
    return this.text.split("\n").slice(0, -1);
  }
}

function writing(droppedLine = (count: number) => `dropped ${count}`) {
  const clock = new ManualClock();
  const stream = new Stream();
  const writer = createLineWriter({ write: stream.write, clock, droppedLine });
  return { clock, stream, writer };
}

/** Lets everything run that does not wait for a timer. */
const settled = () => new Promise((resolve) => setTimeout(resolve, 0));

const noSpace = () => Object.assign(new Error("No space left on device"), { code: "ENOSPC" });

Deno.test("lines are buffered for forty milliseconds and written together", async () => {
  const { clock, stream, writer } = writing();
  writer.write("one", false);
  clock.advance(39);
  writer.write("two", false);
  assertEquals(stream.begun, []);
  clock.advance(1);
  await settled();
  assertEquals([stream.text, stream.begun.length], ["one\ntwo\n", 1]);
  writer.write("three", false);
  clock.advance(40);
  await settled();
  assertEquals(stream.lines, ["one", "two", "three"]);
});

Deno.test("an urgent line is written at once, after those before it", () => {
  const { stream, writer } = writing();
  writer.write("one", false);
  writer.write("two", true);
  assertEquals(stream.begun, [8]);
});

Deno.test("the buffer of lines is bounded", () => {
  const { stream, writer } = writing();
  writer.write("x".repeat(262_144), false);
  assertEquals(stream.begun, [262_145]);
});

Deno.test("flush() writes buffered lines, and nothing when there are none", async () => {
  const { stream, writer } = writing();
  await writer.flush(100);
  writer.write("one", false);
  await writer.flush(100);
  assertEquals([stream.text, stream.begun.length], ["one\n", 1]);
});

Deno.test("flush() waits at most its timeout for a blocked stream", async () => {
  const { clock, stream, writer } = writing();
  stream.script = [new Promise(() => {})];
  writer.write("one", true);
  const flushed = writer.flush(500);
  clock.advance(500);
  await flushed;
});

Deno.test("a partial write is continued", async () => {
  const { stream, writer } = writing();
  stream.script = [3, 1];
  writer.write("whole", true);
  await settled();
  assertEquals(stream.text, "whole\n");
});

Deno.test("one write runs at a time, and lines that arrive meanwhile are written together next", async () => {
  const { clock, stream, writer } = writing();
  const first = Promise.withResolvers<number>();
  stream.script = [first.promise];
  writer.write("one", true);
  writer.write("two", true);
  writer.write("three", false);
  clock.advance(1_000);
  await settled();
  assertEquals(stream.begun.length, 1);
  first.resolve(Infinity);
  await settled();
  assertEquals([stream.lines, stream.begun.length], [["one", "two", "three"], 2]);
});

Deno.test("lines that arrive during a write are gathered too, unless one of them is urgent", async () => {
  const { clock, stream, writer } = writing();
  const [first, third] = [Promise.withResolvers<number>(), Promise.withResolvers<number>()];
  stream.script = [first.promise, Infinity, third.promise];
  writer.write("one", true);
  writer.write("two", false);
  first.resolve(Infinity);
  await settled();
  assertEquals(stream.lines, ["one"]);
  clock.advance(40);
  await settled();
  assertEquals(stream.lines, ["one", "two"]);
  writer.write("three", true);
  writer.write("four", false);
  writer.write("five", true);
  third.resolve(Infinity);
  await settled();
  assertEquals(stream.lines, ["one", "two", "three", "four", "five"]);
});

Deno.test("lines above the limit are dropped, and their count is written when the stream accepts lines again", async () => {
  const { stream, writer } = writing();
  const first = Promise.withResolvers<number>();
  stream.script = [first.promise];
  writer.write("first", true);
  const line = "x".repeat(1_023);
  const kept = MAX_QUEUED_CHARACTERS / 1_024;
  for (let count = 0; count < kept + 10; count++) writer.write(line, false);
  for (let count = 0; count < URGENT_RESERVE_CHARACTERS / 1_024 + 5; count++) writer.write(`!${line.slice(1)}`, true);
  first.resolve(Infinity);
  await settled();
  assertEquals(stream.lines.slice(0, 2), ["first", "dropped 15"]);
  assertEquals(stream.lines.length, 2 + kept + URGENT_RESERVE_CHARACTERS / 1_024);
  writer.write("later", true);
  await settled();
  assertEquals(stream.lines.at(-1), "later");
});

Deno.test("lines dropped during the last write are reported after it, without another line", async () => {
  const { stream, writer } = writing();
  const first = Promise.withResolvers<number>();
  stream.script = [first.promise];
  writer.write("first", true);
  writer.write("x".repeat(MAX_QUEUED_CHARACTERS), false);
  first.resolve(Infinity);
  await settled();
  assertEquals(stream.lines, ["first", "dropped 1"]);
});

Deno.test("a failed write loses its lines, and the next successful one reports how many", async () => {
  const { stream, writer } = writing();
  for (const error of [noSpace(), new Deno.errors.BrokenPipe(), new Deno.errors.BadResource(), new Error("EIO")]) {
    stream.script.push(error);
    writer.write("lost", true);
    await settled();
  }
  writer.write("kept", true);
  await settled();
  assertEquals(stream.lines, ["dropped 4", "kept"]);
});

Deno.test("a line that a failure interrupted is ended before the next one starts", async () => {
  const { stream, writer } = writing();
  stream.script = [6, noSpace()];
  writer.write("one", false);
  writer.write("second", true);
  await settled();
  writer.write("third", true);
  await settled();
  assertEquals(stream.lines, ["one", "se", "dropped 1", "third"]);
});

Deno.test("a report that was written except for its line end is not repeated", async () => {
  const { stream, writer } = writing();
  stream.script = [noSpace(), "dropped 1".length, noSpace()];
  writer.write("lost", true);
  await settled();
  writer.write("lost too", true);
  await settled();
  writer.write("kept", true);
  await settled();
  assertEquals(stream.lines, ["dropped 1", "dropped 1", "kept"]);
});

Deno.test("a full non-blocking stream is tried again, and no line is lost", async () => {
  const { clock, stream, writer } = writing();
  stream.script = [2, new Deno.errors.WouldBlock(), new Deno.errors.WouldBlock()];
  writer.write("whole", true);
  for (let tries = 0; tries < 2; tries++) {
    await settled();
    clock.advance(50);
  }
  await settled();
  assertEquals(stream.text, "whole\n");
});

Deno.test("property: every line is written completely and in order, or counted, whatever the stream does", async () => {
  const step = fc.oneof(fc.integer({ min: 1, max: 9 }), fc.constant(noSpace()), fc.constant(1_000_000));
  await fc.assert(
    fc.asyncProperty(fc.array(step, { maxLength: 30 }), fc.integer({ min: 1, max: 40 }), async (script, lines) => {
      // The full stop distinguishes a complete line from one that was cut within its number.
      const { stream, writer } = writing((count) => `dropped ${count}.`);
      stream.script = [...script];
      for (let line = 0; line < lines; line++) {
        writer.write(`line ${line}.`, line % 3 === 0);
        if (line % 4 === 0) await settled();
      }
      await writer.flush(1_000);
      stream.script = [];
      writer.write("last", true);
      await settled();
      const counted = stream.lines.flatMap((line) => /^dropped (\d+)\.$/.exec(line)?.[1] ?? []);
      const whole = stream.lines.flatMap((line) => /^line (\d+)\.$/.exec(line)?.[1] ?? []).map(Number);
      assertEquals(stream.lines.at(-1), "last");
      assertEquals(whole, whole.toSorted((a, b) => a - b));
      const dropped = counted.reduce((sum, count) => sum + Number(count), 0);
      // A line that was written except for its end counts as dropped, and reads as complete.
      assert(whole.length + dropped >= lines && dropped <= lines, `${whole.length} and ${dropped} of ${lines}`);
    }),
    { numRuns: 60 },
  );
});
