import { assertEquals, assertThrows } from "@std/assert";
import fc from "fast-check";
import { bodyDecoder } from "../../../src/net/http1/body_decoder.ts";

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

/** Decodes a wire text that is cut at the given places. */
function decodedInPieces(wire: Uint8Array, cuts: readonly number[]): { payload: Uint8Array; done: boolean } {
  const decoder = bodyDecoder({ kind: "chunked" });
  const places = [...new Set([0, ...cuts.map((cut) => cut % wire.length), wire.length])].sort((a, b) => a - b);
  const payloads = places.slice(1).map((end, at) => decoder.decode(wire.slice(places[at], end)).slice());
  return { payload: joined(payloads), done: decoder.done };
}

Deno.test("bodyDecoder() gives the same payload wherever the wire is cut", () => {
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

Deno.test("bodyDecoder() skips trailer fields", () => {
  const decoder = bodyDecoder({ kind: "chunked" });
  const payload = decoder.decode(encoder.encode("2\r\nhi\r\n0\r\nauthorization: x\r\n\r\n"));
  assertEquals(new TextDecoder().decode(payload), "hi");
  assertEquals(decoder.done, true);
});

for (const wire of ["x\r\n", "\r\n", "2\r\nhi0\r\n\r\n", "ffffffffffffffff\r\n", "2\r\nhi\r\n0\r\n\r\nmore"]) {
  Deno.test(`bodyDecoder() refuses ${JSON.stringify(wire)}`, () => {
    assertThrows(() => bodyDecoder({ kind: "chunked" }).decode(encoder.encode(wire)), TypeError);
  });
}

Deno.test("bodyDecoder() refuses bytes beyond a length and is done at it", () => {
  const decoder = bodyDecoder({ kind: "length", bytes: 3 });
  assertEquals(decoder.decode(new Uint8Array(2)).length, 2);
  assertEquals(decoder.done, false);
  assertEquals(decoder.decode(new Uint8Array(1)).length, 1);
  assertEquals(decoder.done, true);
  assertThrows(() => decoder.decode(new Uint8Array(1)), TypeError);
});
