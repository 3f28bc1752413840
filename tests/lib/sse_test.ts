import { assertEquals, assertThrows } from "@std/assert";
import fc from "fast-check";
import type { Frame } from "../../src/platform/lib/streams/frame.ts";
import { createFrameReader, createListWriter, encodeFrames, writeFrame } from "../../src/platform/lib/streams/sse.ts";

const bytesOf = (text: string) => new TextEncoder().encode(text);

/** The frames of a stream that arrives in these chunks. */
function framesOf(...pieces: Uint8Array[]): Frame[] {
  const reader = createFrameReader();
  return [...pieces.flatMap((chunk) => reader.push(chunk)), ...reader.end()];
}

const frame = (data: string, event: string | null = null): Frame => ({ event, data });

Deno.test("createFrameReader() reads names, data, comments and all three line ends", () => {
  const cases: [string, Frame[]][] = [
    ["data: a\n\ndata: b\n\n", [frame("a"), frame("b")]],
    ["event: x\r\ndata: a\r\n\r\ndata: b\r\n\r\n", [frame("a", "x"), frame("b")]],
    ["event: x\rdata: a\r\rdata:b\r\r", [frame("a", "x"), frame("b")]],
    [": ping\n\ndata: a\n: ping\n\n", [frame("a")]],
    ["\ufeffdata: a\n\n", [frame("a")]],
    ["data: a\ndata: b\n\n", [frame("a\nb")]],
    ["id: 1\nretry: 5\ndata: [DONE]\n\n", [frame("[DONE]")]],
    ["event: ping\n\ndata: a\n\n", [frame("a")]],
    ["data: a\n\ndata: b", [frame("a"), frame("b")]],
    ["data: a\n\nevent: x\ndata: b\n", [frame("a"), frame("b", "x")]],
    ["data: a\r", [frame("a")]],
    ["data: a\r\n\r", [frame("a")]],
    ["", []],
    ["data: {}\n\n\n\n\ndata:\n\n", [frame("{}"), frame("")]],
  ];
  for (const [text, frames] of cases) assertEquals([text, framesOf(bytesOf(text))], [text, frames]);
});

Deno.test("createFrameReader() returns equal frames wherever the bytes are split", () => {
  const text =
    '\ufeffevent: é\r\ndata: {"t":"日本 😀"}\r\n\r\n: ping\ndata: a\ndata: b\n\nid: 1\rdata: c\r\rdata: last';
  const bytes = bytesOf(text);
  const whole = framesOf(bytes);
  assertEquals(whole.map((frame) => frame.data), ['{"t":"日本 😀"}', "a\nb", "c", "last"]);
  for (let cut = 0; cut <= bytes.length; cut++) {
    assertEquals(framesOf(bytes.subarray(0, cut), bytes.subarray(cut)), whole);
  }
  assertEquals(framesOf(...Array.from(bytes, (byte) => Uint8Array.of(byte))), whole);
});

Deno.test("createFrameReader() reads what encodeFrames() writes, in any chunks", () => {
  const text = fc.string({ unit: "grapheme" }).map((text) => text.replace(/[\r\n\0]/g, ""));
  const frames = fc.array(fc.record({
    event: fc.option(fc.constantFrom("message_start", "content_block_delta", "error")),
    data: fc.array(text, { minLength: 1, maxLength: 3 }).map((lines) => lines.join("\n")),
  }));
  fc.assert(fc.property(frames, fc.array(fc.nat(40)), (frames, sizes) => {
    const bytes = encodeFrames(frames);
    const pieces = [];
    let at = 0;
    for (const size of sizes) pieces.push(bytes.subarray(at, at += size));
    assertEquals(framesOf(...pieces, bytes.subarray(at)), frames);
  }));
});

Deno.test("createFrameReader() stops at a line without an end", () => {
  const reader = createFrameReader({ maxFrameCharacters: 1000 });
  const chunk = bytesOf("x".repeat(300));
  reader.push(bytesOf("data: "));
  for (let count = 0; count < 3; count++) reader.push(chunk);
  assertThrows(() => reader.push(chunk), RangeError, "1000 characters");
  assertThrows(() => reader.push(bytesOf("\n\n")), RangeError);

  const byDefault = createFrameReader();
  byDefault.push(bytesOf(`data: ${"x".repeat(1_000_000)}`));
  assertThrows(() => byDefault.push(bytesOf("x".repeat(100_000))), RangeError);
});

Deno.test("createFrameReader() limits an event of many lines as well", () => {
  const reader = createFrameReader({ maxFrameCharacters: 1000 });
  assertThrows(() => {
    for (let count = 0; count < 20; count++) reader.push(bytesOf(`data: ${"x".repeat(100)}\n`));
  }, RangeError);
});

Deno.test("writeFrame() omits an absent name and ends with a blank line", () => {
  assertEquals(writeFrame(frame("{}")), "data: {}\n\n");
  assertEquals(writeFrame(frame("{}", "ping")), "event: ping\ndata: {}\n\n");
  assertEquals(writeFrame(frame("a\r\nb\nc")), "data: a\ndata: b\ndata: c\n\n");
});

Deno.test("createListWriter() writes one JSON list, also an empty one", () => {
  fc.assert(fc.property(fc.array(fc.array(fc.jsonValue())), (batches) => {
    const writer = createListWriter();
    const text = batches.map((values) => writer.write(values.map((value) => JSON.stringify(value)))).join("") +
      writer.end();
    assertEquals(JSON.parse(text), JSON.parse(JSON.stringify(batches.flat())));
  }));
});
