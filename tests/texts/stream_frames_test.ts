import { assertEquals, assertThrows } from "@std/assert";
import fc from "fast-check";
import { createFrameReader } from "../../src/platform/lib/streams/sse.ts";
import { FrameBuffer } from "../../src/services/texts/relay/frame_buffer.ts";
import { framesIn, lastFrameEnd, rejectManyValues } from "../../src/services/texts/relay/stream_frames.ts";

const UNCOUNTED = { hold() {} };

/** Lines of every kind in the standard, with data that is complete only with its last line. */
const lines = fc.constantFrom(
  "data: {",
  "data:}",
  "data",
  "data: ",
  "event: x",
  ": data: {",
  "",
  "",
  "id: 1",
  "dat: {",
);
const ends = fc.constantFrom("\n", "\r\n", "\r");
const texts = fc.array(fc.tuple(lines, ends), { maxLength: 20 }).map((all) => all.flat().join(""));

function dataIn(text: string): string[] {
  return framesIn(text).flatMap(({ data }) => data === null ? [] : [data]);
}

Deno.test("framesIn() returns the data that the standard defines, and frames that together are the text", () => {
  fc.assert(
    fc.property(texts, (text) => {
      const frames = framesIn(text);
      assertEquals(frames.map(({ start, end }) => text.slice(start, end)).join(""), text);
      const reader = createFrameReader();
      const read = [...reader.push(new TextEncoder().encode(text)), ...reader.end()].map(({ data }) => data);
      assertEquals(dataIn(text), read);
    }),
    { numRuns: 1_000 },
  );
});

Deno.test("framesIn() splits data lines that are complete by themselves, and no others", () => {
  assertEquals(dataIn('data: {"a":1}\ndata: {"b":2}\ndata: [DONE]\n\n'), ['{"a":1}', '{"b":2}', "[DONE]"]);
  assertEquals(dataIn('data: {"a":{}\ndata: ,"b":2}\n\n'), ['{"a":{}\n,"b":2}']);
  assertEquals(dataIn("\u00ef\u00bb\u00bfdata: 1\n\n"), ["1"]);
});

Deno.test("lastFrameEnd() returns the position after the last empty line of any kind", () => {
  for (const text of ["a\n\n", "a\r\n\r\n", "a\r\r", "a\n\r\n", "a\r\n\n", "a\n\r", "a\r\n\r"]) {
    assertEquals([lastFrameEnd(text), lastFrameEnd(text + "b")], [text.length, text.length], JSON.stringify(text));
  }
  assertEquals(["", "a", "a\n", "a\r", "a\r\n", "\n", "a\rb\nc\r\nd"].map(lastFrameEnd), [0, 0, 0, 0, 0, 0, 0]);
});

Deno.test("FrameBuffer returns every character once, in order, and only complete frames", () => {
  fc.assert(
    fc.property(texts, fc.array(fc.nat(200), { maxLength: 8 }), (text, places) => {
      const cuts = [0, ...places.map((place) => place % (text.length + 1)).toSorted((a, b) => a - b), text.length];
      const buffer = new FrameBuffer(UNCOUNTED);
      const given = cuts.slice(1).map((to, at) => buffer.push(text.slice(cuts[at], to)));
      const rest = buffer.end();
      assertEquals(given.join("") + rest, text);
      assertEquals([...given, rest].flatMap(dataIn), dataIn(text));
    }),
    { numRuns: 1_000 },
  );
});

Deno.test("FrameBuffer holds and counts a frame with a picture, and rejects a larger one", () => {
  const held: number[] = [];
  const buffer = new FrameBuffer({ hold: (bytes) => void held.push(bytes) });
  const part = "a".repeat(8_000_000);
  assertEquals(buffer.push(`data: "${part}`), "");
  assertEquals(buffer.push('"\n\n').length, part.length + 10);
  assertEquals([held[0], held.at(-1)], [part.length + 7, 0]);
  for (let parts = 0; parts < 4; parts++) buffer.push(part);
  assertThrows(() => buffer.push(part), RangeError, "33554432 bytes");
});

Deno.test("rejectManyValues() rejects large data with too many values, but no picture", () => {
  rejectManyValues(JSON.stringify({ data: "a".repeat(2_000_000) }));
  rejectManyValues(`[${"1,".repeat(60_000)}1]`);
  assertThrows(() => rejectManyValues(`[${"1,".repeat(600_000)}1]`), RangeError, "50000 JSON values");
  const newNames = Array.from({ length: 21_000 }, (_, nth) => `"a name of one object, ${nth}":1`).join();
  assertThrows(() => rejectManyValues(`{${newNames}}`), RangeError, "200000 JSON values");
});
