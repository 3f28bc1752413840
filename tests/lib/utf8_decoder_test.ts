import { assertEquals } from "@std/assert";
import fc from "fast-check";
import { Utf8Decoder } from "../../src/platform/lib/bytes/utf8_decoder.ts";

function decoded(pieces: readonly Uint8Array[]): string {
  const decoder = new Utf8Decoder();
  return pieces.map((piece) => decoder.decode(piece)).join("") + decoder.end();
}

function split(bytes: Uint8Array, sizes: readonly number[]): Uint8Array[] {
  const pieces: Uint8Array[] = [];
  let at = 0;
  for (const size of sizes) pieces.push(bytes.subarray(at, at += size));
  return [...pieces, bytes.subarray(at)];
}

Deno.test("Utf8Decoder decodes what TextDecoder decodes, wherever the bytes are split", () => {
  const text = fc.string({ unit: "binary" }).map((text) => new TextEncoder().encode(text));
  const invalid = fc.array(fc.constantFrom(0x41, 0x80, 0xbf, 0xc2, 0xc3, 0xe2, 0xe0, 0xed, 0xf0, 0xf4, 0xff, 0x9f))
    .map((bytes) => new Uint8Array(bytes));
  const marked = text.map((bytes) => new Uint8Array([0xef, 0xbb, 0xbf, ...bytes]));
  fc.assert(fc.property(fc.oneof(text, invalid, marked), fc.array(fc.nat(5)), (bytes, sizes) => {
    assertEquals(decoded(split(bytes, sizes)), new TextDecoder().decode(bytes));
  }));
});

Deno.test("Utf8Decoder gives a character with its last byte", () => {
  const decoder = new Utf8Decoder();
  const bytes = new TextEncoder().encode("é😀");
  assertEquals(Array.from(bytes, (byte) => decoder.decode(Uint8Array.of(byte))), ["", "é", "", "", "", "😀"]);
  assertEquals(decoder.end(), "");
});

Deno.test("Utf8Decoder removes a byte order mark at the start only", () => {
  const mark = Uint8Array.of(0xef, 0xbb, 0xbf);
  const bytes = new Uint8Array([...mark, 0x61, ...mark, 0x62]);
  assertEquals(decoded([bytes]), "a\ufeffb");
  assertEquals(decoded(Array.from(bytes, (byte) => Uint8Array.of(byte))), "a\ufeffb");
});
