import { assertEquals, assertThrows } from "@std/assert";
import fc from "fast-check";
import { bodyDecoder } from "../../../src/platform/net/http1/body_decoder.ts";

const encoder = new TextEncoder();

function chunked(payloads: readonly Uint8Array[], extension = ""): Uint8Array {
  const parts = payloads.filter(({ length }) => length > 0).flatMap((payload) => [
    encoder.encode(`${payload.length.toString(16)}${extension}\r\n`),
    payload,
    encoder.encode("\r\n"),
  ]);
  return joined([...parts, encoder.encode("0\r\n\r\n")]);
}

function joined(parts: readonly Uint8Array[]): Uint8Array {
  return Uint8Array.from(parts.flatMap((part) => [...part]));
}

/** Decodes bytes that are split at the given positions. */
function decodedInPieces(wire: Uint8Array, cuts: readonly number[]): { payload: Uint8Array; done: boolean } {
  const decoder = bodyDecoder({ kind: "chunked" });
  const places = [...new Set([0, ...cuts.map((cut) => cut % wire.length), wire.length])].sort((a, b) => a - b);
  const payloads = places.slice(1).map((end, at) => decoder.decode(wire.slice(places[at], end)).slice());
  return { payload: joined(payloads), done: decoder.done };
}

Deno.test("bodyDecoder() returns the same payload wherever the bytes are split", () => {
  fc.assert(fc.property(
    fc.array(fc.uint8Array({ maxLength: 40 }), { maxLength: 8 }),
    fc.array(fc.nat(), { maxLength: 10 }),
    fc.constantFrom("", ";name=value", " "),
    (payloads, cuts, extension) => {
      const { payload, done } = decodedInPieces(chunked(payloads, extension), cuts);
      assertEquals(payload, joined(payloads));
      assertEquals(done, true);
    },
  ));
});

Deno.test("bodyDecoder() reads a part of a buffer, and leaves the rest as it is", () => {
  const buffer = encoder.encode("before2\r\nhi\r\n3\r\nyou\r\n0\r\n\r\nafter");
  const end = buffer.length - "after".length;
  const decoder = bodyDecoder({ kind: "chunked" });
  assertEquals(new TextDecoder().decode(decoder.decode(buffer, "before".length, end)), "hiyou");
  assertEquals([decoder.done, decoder.hasExcess], [true, false]);
  assertEquals(new TextDecoder().decode(buffer.subarray(0, "before".length)), "before");
  assertEquals(new TextDecoder().decode(buffer.subarray(end)), "after");
  const byLength = bodyDecoder({ kind: "length", bytes: 3 });
  assertEquals([...byLength.decode(Uint8Array.of(1, 2, 3, 4, 5), 1, 3)], [2, 3]);
  assertEquals([...byLength.decode(Uint8Array.of(1, 2, 3, 4, 5), 3, 5)], [4]);
  assertEquals([byLength.done, byLength.hasExcess], [true, true]);
});

Deno.test("bodyDecoder() skips trailer fields", () => {
  const decoder = bodyDecoder({ kind: "chunked" });
  const payload = decoder.decode(encoder.encode("2\r\nhi\r\n0\r\nauthorization: x\r\n\r\n"));
  assertEquals(new TextDecoder().decode(payload), "hi");
  assertEquals(decoder.done, true);
});

const BROKEN: Readonly<Record<string, string>> = {
  "a size that is no number": "x\r\n",
  "no size": "\r\n",
  "a chunk without its line end": "2\r\nhi0\r\n\r\n",
  "a chunk with a bare line feed behind it": "2\r\nhi\n0\r\n\r\n",
  "two carriage returns": "2\r\nhi\r\r\n0\r\n\r\n",
  "a size line that ends with a bare line feed": "2\nhi\r\n",
  "an extension with a NUL": "2;\0\r\nhi\r\n",
  "a size beyond 2^40": "ffffffffffffffff\r\n",
  "a negative size": "-2\r\nhi\r\n",
  "an extension without an end": `2;${"x".repeat(4_096)}`,
  "a size of zeros without an end": "0".repeat(4_097),
  "trailers without an end": `0\r\n${"a: b\r\n".repeat(4_000)}`,
  "a trailer with a NUL": "0\r\na: \0\r\n\r\n",
};

for (const [what, wire] of Object.entries(BROKEN)) {
  Deno.test(`bodyDecoder() rejects ${what}`, () => {
    assertThrows(() => bodyDecoder({ kind: "chunked" }).decode(encoder.encode(wire)), TypeError);
  });
}

Deno.test("bodyDecoder() reports bytes after the end of a chunked body, in the same read or later", () => {
  for (const wires of [["0\r\n\r\nmore"], ["0\r\n\r\n", "m"]]) {
    const decoder = bodyDecoder({ kind: "chunked" });
    for (const wire of wires) assertEquals(decoder.decode(encoder.encode(wire)).length, 0);
    assertEquals([decoder.done, decoder.hasExcess], [true, true]);
  }
});

Deno.test("bodyDecoder() ends at the given length, and reports bytes after it", () => {
  const decoder = bodyDecoder({ kind: "length", bytes: 3 });
  assertEquals(decoder.decode(new Uint8Array(2)).length, 2);
  assertEquals(decoder.done, false);
  assertEquals(decoder.decode(new Uint8Array(1)).length, 1);
  assertEquals([decoder.done, decoder.hasExcess], [true, false]);
  assertEquals(decoder.decode(new Uint8Array(1)).length, 0);
  assertEquals([decoder.done, decoder.hasExcess], [true, true]);
});
